import type { MetricFamily } from "../../core/contract/metric-family.ts";
import type { CertificateView, RouterView } from "../../core/contract/router-view.ts";
import { familyText } from "./buckets.ts";

const EXPIRY_HELP = "When the certificate expires, in seconds since 1970.";
const STALE_HELP = "1 while the certificate's files can't be used as they are now, so that what they held before is shown.";
const FAILURES_HELP = "TLS handshakes with clients that failed, by reason.";

/** Certificates and handshakes; without TLS, their heads alone. */
export function tlsText({ tls }: RouterView): string {
  const { certificates, failures } = tls;
  const ofEach = (read: (certificate: CertificateView) => number) =>
    certificates.map((certificate) => ({ values: [certificate.port, certificate.file], value: read(certificate) }));
  const labels = ["port", "file"];
  const expiry = ofEach(({ expiresAtS }) => expiresAtS);
  const stale = ofEach(({ fault }) => (fault === "" ? 0 : 1));
  const failed = failures.map(({ port, reason, count }) => ({ values: [port, reason], value: count }));
  const families: readonly MetricFamily[] = [
    { name: "tls_certificate_expiry_time_seconds", type: "gauge", help: EXPIRY_HELP, labels, samples: expiry },
    { name: "tls_certificate_stale", type: "gauge", help: STALE_HELP, labels, samples: stale },
    { name: "tls_handshake_failures_total", type: "counter", help: FAILURES_HELP, labels: ["port", "reason"], samples: failed },
  ];
  return families.map(familyText).join("");
}
