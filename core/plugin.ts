/** What plugins import, as "signalbox/plugin": the contracts, what defines a plugin of each kind, and what helps to write one. */
export type { Admission, Demand, Room, Waiting } from "./contract/admission.ts";
export type { Authenticator } from "./contract/authenticator.ts";
export type { BodyMember } from "./contract/body-member.ts";
export type { BodyView, JsonKind } from "./contract/body-view.ts";
export type { Clock } from "./contract/clock.ts";
export type { Decision, Dropped, Fault, Leg, ScorerColumn } from "./contract/decision.ts";
export type { Detector, EndpointRecord } from "./contract/detector.ts";
export type { Discovery } from "./contract/discovery.ts";
export { doubleZeros } from "./contract/doubles.ts";
export type {
  Ejection,
  Endpoint,
  EndpointSpec,
  EndpointUrl,
  Intent,
  ModelCard,
  ModelCards,
  Phase,
  Replica,
} from "./contract/endpoint.ts";
export { isServing } from "./contract/endpoint.ts";
export { endpointName, parseEndpointUrl } from "./contract/endpoint-url.ts";
export { type Dialect, ERRORS, type ErrorCode, RouterError } from "./contract/errors.ts";
export { type Estimate, estimateAt } from "./contract/estimate.ts";
export { expectedFirstTokenMs, firstTokenAfterMs, firstTokenMs, uncachedTokens } from "./contract/expected-wait.ts";
export type { Feature, RunningConfigView } from "./contract/feature.ts";
export type { Filter } from "./contract/filter.ts";
export { Bounds, Histogram, type HistogramView } from "./contract/histogram.ts";
export type { AdapterFacts, AdapterUse, LoadView, ScrapedValues, UnlistedName } from "./contract/load-view.ts";
export type { Log, LogFields } from "./contract/log.ts";
export type { MetricFamily } from "./contract/metric-family.ts";
export type { MirrorEnding, MirrorRecord, MirrorSkip } from "./contract/mirror.ts";
export { type NameSet, nameSet } from "./contract/name-set.ts";
export type { Need, ReportedNumber } from "./contract/need.ts";
export type { Observer, ObserverPage, ObserverStream, SendEvent } from "./contract/observer.ts";
export { listOf, type OptionSchema, type SchemaIssue, type SchemaResult, z } from "./contract/options.ts";
export type { Attempt, AttemptFailure, Outcome, OutcomeError, RequestTimes, Usage } from "./contract/outcome.ts";
export type { Parser, Route } from "./contract/parser.ts";
export type { Picker } from "./contract/picker.ts";
export {
  type Definition,
  defineAdmission,
  defineAuthenticator,
  defineDetector,
  defineDiscovery,
  defineFeature,
  defineFilter,
  defineKind,
  defineObserver,
  defineParser,
  definePicker,
  defineRewriter,
  defineScorer,
  defineSource,
  type NamedPlugin,
  type OwnPlugin,
  type PluginHost,
  type PluginKind,
  type PluginKinds,
  type PrefixSettings,
} from "./contract/plugin.ts";
export type { PrefixMatch } from "./contract/prefix-match.ts";
export type { Principal, PrincipalLimits } from "./contract/principal.ts";
export { printable, printableLines } from "./contract/printable.ts";
export type { ProfilePlugin, Random, ResponseHeader } from "./contract/profile-plugin.ts";
export type { CountedPart, PartKind, PromptPart } from "./contract/prompt-part.ts";
export type { DrawMethod, HeaderView, InferenceRequest, OnDemand, ParsedBody } from "./contract/request.ts";
export type { ResponseShape } from "./contract/response-shape.ts";
export type { Rewriter, TargetDraw, TargetMapping, TargetQuestion } from "./contract/rewriter.ts";
export { ringPlace } from "./contract/ring-place.ts";
export type { PluginTime, RouterView } from "./contract/router-view.ts";
export type { Scorer } from "./contract/scorer.ts";
export type { Secret } from "./contract/secret.ts";
export type { SessionTurn } from "./contract/session-turn.ts";
export type { ShadowChoice } from "./contract/shadow.ts";
export type { AdmitSlot, WaitingPlace, WaitOwner } from "./contract/slots/admit.ts";
export type { Answer, AnswerSlot, OwnRoute } from "./contract/slots/answer.ts";
export type { Compared, CompareSlot } from "./contract/slots/compare.ts";
export type { CopySlot } from "./contract/slots/copy.ts";
export type { EnterSlot } from "./contract/slots/enter.ts";
export type { LinesSlot } from "./contract/slots/lines.ts";
export type { RequestBody, RequestHead, RequestRun } from "./contract/slots/request-run.ts";
export type { SettledSlot } from "./contract/slots/settled.ts";
export type { ShownSlots } from "./contract/slots/shown.ts";
export type { Tap, TappedResponse, TapSlot } from "./contract/slots/tap.ts";
export type { EndpointFacts, Source } from "./contract/source.ts";
export type { Span } from "./contract/span.ts";
export { thrownCode, thrownMessage, thrownText } from "./contract/thrown-text.ts";
export type { Trace } from "./contract/trace.ts";
export { CONTRACT_VERSION } from "./contract/version.ts";
