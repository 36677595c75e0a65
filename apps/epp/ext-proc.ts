// @ts-nocheck: made of ext-proc.proto by npm run proto; only what is exported has types.
import type { PbfReader, PbfWriter } from "pbf";

export interface Struct {
  readonly fields?: Readonly<Record<string, Value>> | undefined;
}

export interface Value {
  readonly number_value?: number | undefined;
  readonly string_value?: string | undefined;
  readonly struct_value?: Struct | undefined;
  readonly list_value?: ListValue | undefined;
  /** Which of them came. */
  readonly kind?: "number_value" | "string_value" | "struct_value" | "list_value" | undefined;
}

export interface ListValue {
  readonly values?: readonly Value[] | undefined;
}

export interface HeaderValue {
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  readonly raw_value?: Uint8Array | undefined;
}

export interface HeaderMap {
  readonly headers?: readonly HeaderValue[] | undefined;
}

export interface HeaderValueOption {
  readonly header?: HeaderValue | undefined;
  readonly append_action?: number | undefined;
}

export interface Metadata {
  readonly filter_metadata?: Readonly<Record<string, Struct>> | undefined;
}

export interface ProtocolConfiguration {
  readonly request_body_mode?: number | undefined;
  readonly response_body_mode?: number | undefined;
}

export interface ProcessingRequest {
  readonly request_headers?: HttpHeaders | undefined;
  readonly response_headers?: HttpHeaders | undefined;
  readonly request_body?: HttpBody | undefined;
  readonly response_body?: HttpBody | undefined;
  readonly request_trailers?: HttpTrailers | undefined;
  readonly response_trailers?: HttpTrailers | undefined;
  readonly metadata_context?: Metadata | undefined;
  readonly attributes?: Readonly<Record<string, Struct>> | undefined;
  readonly observability_mode?: boolean | undefined;
  readonly protocol_config?: ProtocolConfiguration | undefined;
  /** Which of them came. */
  readonly request?: "request_headers" | "response_headers" | "request_body" | "response_body" | "request_trailers" | "response_trailers" | undefined;
}

export interface HttpHeaders {
  readonly headers?: HeaderMap | undefined;
  readonly end_of_stream?: boolean | undefined;
}

export interface HttpBody {
  readonly body?: Uint8Array | undefined;
  readonly end_of_stream?: boolean | undefined;
}

export interface HttpTrailers {

}

export interface ProcessingResponse {
  readonly request_headers?: HeadersResponse | undefined;
  readonly response_headers?: HeadersResponse | undefined;
  readonly request_body?: BodyResponse | undefined;
  readonly response_body?: BodyResponse | undefined;
  readonly request_trailers?: TrailersResponse | undefined;
  readonly response_trailers?: TrailersResponse | undefined;
  readonly immediate_response?: ImmediateResponse | undefined;
  readonly dynamic_metadata?: Struct | undefined;
  /** Which of them came. */
  readonly response?: "request_headers" | "response_headers" | "request_body" | "response_body" | "request_trailers" | "response_trailers" | "immediate_response" | undefined;
}

export interface HeadersResponse {
  readonly response?: CommonResponse | undefined;
}

export interface BodyResponse {
  readonly response?: CommonResponse | undefined;
}

export interface TrailersResponse {

}

export interface CommonResponse {
  readonly header_mutation?: HeaderMutation | undefined;
  readonly body_mutation?: BodyMutation | undefined;
  readonly clear_route_cache?: boolean | undefined;
}

export interface HeaderMutation {
  readonly set_headers?: readonly HeaderValueOption[] | undefined;
  readonly remove_headers?: readonly string[] | undefined;
}

export interface BodyMutation {
  readonly body?: Uint8Array | undefined;
  readonly clear_body?: boolean | undefined;
  readonly streamed_response?: StreamedBodyResponse | undefined;
  /** Which of them came. */
  readonly mutation?: "body" | "clear_body" | "streamed_response" | undefined;
}

export interface StreamedBodyResponse {
  readonly body?: Uint8Array | undefined;
  readonly end_of_stream?: boolean | undefined;
}

export interface ImmediateResponse {
  readonly status?: HttpStatus | undefined;
  readonly headers?: HeaderMutation | undefined;
  readonly body?: Uint8Array | undefined;
  readonly details?: string | undefined;
}

export interface HttpStatus {
  readonly code?: number | undefined;
}

export interface HealthCheckRequest {
  readonly service?: string | undefined;
}

export interface HealthCheckResponse {
  readonly status?: number | undefined;
}

export function readStruct(pbf: PbfReader, end?: number): Struct {
    const obj = {fields: {}};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) { const {key, value} = readStructFieldsEntry(pbf, pbf.readVarint() + pbf.pos); obj.fields[key] = value; }
    }
    return obj;
}
export function writeStruct(obj: Struct, pbf: PbfWriter): void {
    if (obj.fields) for (const key of Object.keys(obj.fields)) pbf.writeMessage(1, writeStructFieldsEntry, {key, value: obj.fields[key]});
}

function readStructFieldsEntry(pbf: PbfReader, end?: number): unknown {
    const obj = {key: "", value: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.key = pbf.readString();
        else if (field === 2) obj.value = readValue(pbf, pbf.readVarint() + pbf.pos);
    }
    return obj;
}
function writeStructFieldsEntry(obj: unknown, pbf: PbfWriter): void {
    if (obj.key) pbf.writeStringField(1, obj.key);
    if (obj.value) pbf.writeMessage(2, writeValue, obj.value);
}

export function readValue(pbf: PbfReader, end?: number): Value {
    const obj = {number_value: 0, kind: undefined, string_value: "", struct_value: undefined, list_value: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 2) { obj.number_value = pbf.readDouble(); obj.kind = "number_value"; }
        else if (field === 3) { obj.string_value = pbf.readString(); obj.kind = "string_value"; }
        else if (field === 5) { obj.struct_value = readStruct(pbf, pbf.readVarint() + pbf.pos); obj.kind = "struct_value"; }
        else if (field === 6) { obj.list_value = readListValue(pbf, pbf.readVarint() + pbf.pos); obj.kind = "list_value"; }
    }
    return obj;
}
export function writeValue(obj: Value, pbf: PbfWriter): void {
    if (obj.number_value != null) pbf.writeDoubleField(2, obj.number_value);
    if (obj.string_value != null) pbf.writeStringField(3, obj.string_value);
    if (obj.struct_value) pbf.writeMessage(5, writeStruct, obj.struct_value);
    if (obj.list_value) pbf.writeMessage(6, writeListValue, obj.list_value);
}

export function readListValue(pbf: PbfReader, end?: number): ListValue {
    const obj = {values: []};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.values.push(readValue(pbf, pbf.readVarint() + pbf.pos));
    }
    return obj;
}
export function writeListValue(obj: ListValue, pbf: PbfWriter): void {
    if (obj.values) for (const item of obj.values) pbf.writeMessage(1, writeValue, item);
}

export function readHeaderValue(pbf: PbfReader, end?: number): HeaderValue {
    const obj = {key: "", value: "", raw_value: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.key = pbf.readString();
        else if (field === 2) obj.value = pbf.readString();
        else if (field === 3) obj.raw_value = pbf.readBytes();
    }
    return obj;
}
export function writeHeaderValue(obj: HeaderValue, pbf: PbfWriter): void {
    if (obj.key) pbf.writeStringField(1, obj.key);
    if (obj.value) pbf.writeStringField(2, obj.value);
    if (obj.raw_value != null) pbf.writeBytesField(3, obj.raw_value);
}

export function readHeaderMap(pbf: PbfReader, end?: number): HeaderMap {
    const obj = {headers: []};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.headers.push(readHeaderValue(pbf, pbf.readVarint() + pbf.pos));
    }
    return obj;
}
export function writeHeaderMap(obj: HeaderMap, pbf: PbfWriter): void {
    if (obj.headers) for (const item of obj.headers) pbf.writeMessage(1, writeHeaderValue, item);
}

export function readHeaderValueOption(pbf: PbfReader, end?: number): HeaderValueOption {
    const obj = {header: undefined, append_action: 0};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.header = readHeaderValue(pbf, pbf.readVarint() + pbf.pos);
        else if (field === 3) obj.append_action = pbf.readVarint();
    }
    return obj;
}
export function writeHeaderValueOption(obj: HeaderValueOption, pbf: PbfWriter): void {
    if (obj.header) pbf.writeMessage(1, writeHeaderValue, obj.header);
    if (obj.append_action) pbf.writeVarintField(3, obj.append_action);
}

export function readMetadata(pbf: PbfReader, end?: number): Metadata {
    const obj = {filter_metadata: {}};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) { const {key, value} = readMetadataFilter_metadataEntry(pbf, pbf.readVarint() + pbf.pos); obj.filter_metadata[key] = value; }
    }
    return obj;
}
export function writeMetadata(obj: Metadata, pbf: PbfWriter): void {
    if (obj.filter_metadata) for (const key of Object.keys(obj.filter_metadata)) pbf.writeMessage(1, writeMetadataFilter_metadataEntry, {key, value: obj.filter_metadata[key]});
}

function readMetadataFilter_metadataEntry(pbf: PbfReader, end?: number): unknown {
    const obj = {key: "", value: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.key = pbf.readString();
        else if (field === 2) obj.value = readStruct(pbf, pbf.readVarint() + pbf.pos);
    }
    return obj;
}
function writeMetadataFilter_metadataEntry(obj: unknown, pbf: PbfWriter): void {
    if (obj.key) pbf.writeStringField(1, obj.key);
    if (obj.value) pbf.writeMessage(2, writeStruct, obj.value);
}

export function readProtocolConfiguration(pbf: PbfReader, end?: number): ProtocolConfiguration {
    const obj = {request_body_mode: 0, response_body_mode: 0};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.request_body_mode = pbf.readVarint();
        else if (field === 2) obj.response_body_mode = pbf.readVarint();
    }
    return obj;
}
export function writeProtocolConfiguration(obj: ProtocolConfiguration, pbf: PbfWriter): void {
    if (obj.request_body_mode) pbf.writeVarintField(1, obj.request_body_mode);
    if (obj.response_body_mode) pbf.writeVarintField(2, obj.response_body_mode);
}

export function readProcessingRequest(pbf: PbfReader, end?: number): ProcessingRequest {
    const obj = {request_headers: undefined, request: undefined, response_headers: undefined, request_body: undefined, response_body: undefined, request_trailers: undefined, response_trailers: undefined, metadata_context: undefined, attributes: {}, observability_mode: false, protocol_config: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 2) { obj.request_headers = readHttpHeaders(pbf, pbf.readVarint() + pbf.pos); obj.request = "request_headers"; }
        else if (field === 3) { obj.response_headers = readHttpHeaders(pbf, pbf.readVarint() + pbf.pos); obj.request = "response_headers"; }
        else if (field === 4) { obj.request_body = readHttpBody(pbf, pbf.readVarint() + pbf.pos); obj.request = "request_body"; }
        else if (field === 5) { obj.response_body = readHttpBody(pbf, pbf.readVarint() + pbf.pos); obj.request = "response_body"; }
        else if (field === 6) { obj.request_trailers = readHttpTrailers(pbf, pbf.readVarint() + pbf.pos); obj.request = "request_trailers"; }
        else if (field === 7) { obj.response_trailers = readHttpTrailers(pbf, pbf.readVarint() + pbf.pos); obj.request = "response_trailers"; }
        else if (field === 8) obj.metadata_context = readMetadata(pbf, pbf.readVarint() + pbf.pos);
        else if (field === 9) { const {key, value} = readProcessingRequestAttributesEntry(pbf, pbf.readVarint() + pbf.pos); obj.attributes[key] = value; }
        else if (field === 10) obj.observability_mode = pbf.readBoolean();
        else if (field === 11) obj.protocol_config = readProtocolConfiguration(pbf, pbf.readVarint() + pbf.pos);
    }
    return obj;
}
export function writeProcessingRequest(obj: ProcessingRequest, pbf: PbfWriter): void {
    if (obj.request_headers) pbf.writeMessage(2, writeHttpHeaders, obj.request_headers);
    if (obj.response_headers) pbf.writeMessage(3, writeHttpHeaders, obj.response_headers);
    if (obj.request_body) pbf.writeMessage(4, writeHttpBody, obj.request_body);
    if (obj.response_body) pbf.writeMessage(5, writeHttpBody, obj.response_body);
    if (obj.request_trailers) pbf.writeMessage(6, writeHttpTrailers, obj.request_trailers);
    if (obj.response_trailers) pbf.writeMessage(7, writeHttpTrailers, obj.response_trailers);
    if (obj.metadata_context) pbf.writeMessage(8, writeMetadata, obj.metadata_context);
    if (obj.attributes) for (const key of Object.keys(obj.attributes)) pbf.writeMessage(9, writeProcessingRequestAttributesEntry, {key, value: obj.attributes[key]});
    if (obj.observability_mode) pbf.writeBooleanField(10, obj.observability_mode);
    if (obj.protocol_config) pbf.writeMessage(11, writeProtocolConfiguration, obj.protocol_config);
}

function readProcessingRequestAttributesEntry(pbf: PbfReader, end?: number): unknown {
    const obj = {key: "", value: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.key = pbf.readString();
        else if (field === 2) obj.value = readStruct(pbf, pbf.readVarint() + pbf.pos);
    }
    return obj;
}
function writeProcessingRequestAttributesEntry(obj: unknown, pbf: PbfWriter): void {
    if (obj.key) pbf.writeStringField(1, obj.key);
    if (obj.value) pbf.writeMessage(2, writeStruct, obj.value);
}

export function readHttpHeaders(pbf: PbfReader, end?: number): HttpHeaders {
    const obj = {headers: undefined, end_of_stream: false};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.headers = readHeaderMap(pbf, pbf.readVarint() + pbf.pos);
        else if (field === 3) obj.end_of_stream = pbf.readBoolean();
    }
    return obj;
}
export function writeHttpHeaders(obj: HttpHeaders, pbf: PbfWriter): void {
    if (obj.headers) pbf.writeMessage(1, writeHeaderMap, obj.headers);
    if (obj.end_of_stream) pbf.writeBooleanField(3, obj.end_of_stream);
}

export function readHttpBody(pbf: PbfReader, end?: number): HttpBody {
    const obj = {body: undefined, end_of_stream: false};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.body = pbf.readBytes();
        else if (field === 2) obj.end_of_stream = pbf.readBoolean();
    }
    return obj;
}
export function writeHttpBody(obj: HttpBody, pbf: PbfWriter): void {
    if (obj.body != null) pbf.writeBytesField(1, obj.body);
    if (obj.end_of_stream) pbf.writeBooleanField(2, obj.end_of_stream);
}

export function readHttpTrailers(pbf: PbfReader, end?: number): HttpTrailers {
    pbf.pos = end;
    return {};
}
export function writeHttpTrailers(obj: HttpTrailers, pbf: PbfWriter): void {}

export function readProcessingResponse(pbf: PbfReader, end?: number): ProcessingResponse {
    const obj = {request_headers: undefined, response: undefined, response_headers: undefined, request_body: undefined, response_body: undefined, request_trailers: undefined, response_trailers: undefined, immediate_response: undefined, dynamic_metadata: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) { obj.request_headers = readHeadersResponse(pbf, pbf.readVarint() + pbf.pos); obj.response = "request_headers"; }
        else if (field === 2) { obj.response_headers = readHeadersResponse(pbf, pbf.readVarint() + pbf.pos); obj.response = "response_headers"; }
        else if (field === 3) { obj.request_body = readBodyResponse(pbf, pbf.readVarint() + pbf.pos); obj.response = "request_body"; }
        else if (field === 4) { obj.response_body = readBodyResponse(pbf, pbf.readVarint() + pbf.pos); obj.response = "response_body"; }
        else if (field === 5) { obj.request_trailers = readTrailersResponse(pbf, pbf.readVarint() + pbf.pos); obj.response = "request_trailers"; }
        else if (field === 6) { obj.response_trailers = readTrailersResponse(pbf, pbf.readVarint() + pbf.pos); obj.response = "response_trailers"; }
        else if (field === 7) { obj.immediate_response = readImmediateResponse(pbf, pbf.readVarint() + pbf.pos); obj.response = "immediate_response"; }
        else if (field === 8) obj.dynamic_metadata = readStruct(pbf, pbf.readVarint() + pbf.pos);
    }
    return obj;
}
export function writeProcessingResponse(obj: ProcessingResponse, pbf: PbfWriter): void {
    if (obj.request_headers) pbf.writeMessage(1, writeHeadersResponse, obj.request_headers);
    if (obj.response_headers) pbf.writeMessage(2, writeHeadersResponse, obj.response_headers);
    if (obj.request_body) pbf.writeMessage(3, writeBodyResponse, obj.request_body);
    if (obj.response_body) pbf.writeMessage(4, writeBodyResponse, obj.response_body);
    if (obj.request_trailers) pbf.writeMessage(5, writeTrailersResponse, obj.request_trailers);
    if (obj.response_trailers) pbf.writeMessage(6, writeTrailersResponse, obj.response_trailers);
    if (obj.immediate_response) pbf.writeMessage(7, writeImmediateResponse, obj.immediate_response);
    if (obj.dynamic_metadata) pbf.writeMessage(8, writeStruct, obj.dynamic_metadata);
}

export function readHeadersResponse(pbf: PbfReader, end?: number): HeadersResponse {
    const obj = {response: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.response = readCommonResponse(pbf, pbf.readVarint() + pbf.pos);
    }
    return obj;
}
export function writeHeadersResponse(obj: HeadersResponse, pbf: PbfWriter): void {
    if (obj.response) pbf.writeMessage(1, writeCommonResponse, obj.response);
}

export function readBodyResponse(pbf: PbfReader, end?: number): BodyResponse {
    const obj = {response: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.response = readCommonResponse(pbf, pbf.readVarint() + pbf.pos);
    }
    return obj;
}
export function writeBodyResponse(obj: BodyResponse, pbf: PbfWriter): void {
    if (obj.response) pbf.writeMessage(1, writeCommonResponse, obj.response);
}

export function readTrailersResponse(pbf: PbfReader, end?: number): TrailersResponse {
    pbf.pos = end;
    return {};
}
export function writeTrailersResponse(obj: TrailersResponse, pbf: PbfWriter): void {}

export function readCommonResponse(pbf: PbfReader, end?: number): CommonResponse {
    const obj = {header_mutation: undefined, body_mutation: undefined, clear_route_cache: false};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 2) obj.header_mutation = readHeaderMutation(pbf, pbf.readVarint() + pbf.pos);
        else if (field === 3) obj.body_mutation = readBodyMutation(pbf, pbf.readVarint() + pbf.pos);
        else if (field === 5) obj.clear_route_cache = pbf.readBoolean();
    }
    return obj;
}
export function writeCommonResponse(obj: CommonResponse, pbf: PbfWriter): void {
    if (obj.header_mutation) pbf.writeMessage(2, writeHeaderMutation, obj.header_mutation);
    if (obj.body_mutation) pbf.writeMessage(3, writeBodyMutation, obj.body_mutation);
    if (obj.clear_route_cache) pbf.writeBooleanField(5, obj.clear_route_cache);
}

export function readHeaderMutation(pbf: PbfReader, end?: number): HeaderMutation {
    const obj = {set_headers: [], remove_headers: []};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.set_headers.push(readHeaderValueOption(pbf, pbf.readVarint() + pbf.pos));
        else if (field === 2) obj.remove_headers.push(pbf.readString());
    }
    return obj;
}
export function writeHeaderMutation(obj: HeaderMutation, pbf: PbfWriter): void {
    if (obj.set_headers) for (const item of obj.set_headers) pbf.writeMessage(1, writeHeaderValueOption, item);
    if (obj.remove_headers) for (const item of obj.remove_headers) pbf.writeStringField(2, item);
}

export function readBodyMutation(pbf: PbfReader, end?: number): BodyMutation {
    const obj = {body: undefined, mutation: undefined, clear_body: false, streamed_response: undefined};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) { obj.body = pbf.readBytes(); obj.mutation = "body"; }
        else if (field === 2) { obj.clear_body = pbf.readBoolean(); obj.mutation = "clear_body"; }
        else if (field === 3) { obj.streamed_response = readStreamedBodyResponse(pbf, pbf.readVarint() + pbf.pos); obj.mutation = "streamed_response"; }
    }
    return obj;
}
export function writeBodyMutation(obj: BodyMutation, pbf: PbfWriter): void {
    if (obj.body != null) pbf.writeBytesField(1, obj.body);
    if (obj.clear_body != null) pbf.writeBooleanField(2, obj.clear_body);
    if (obj.streamed_response) pbf.writeMessage(3, writeStreamedBodyResponse, obj.streamed_response);
}

export function readStreamedBodyResponse(pbf: PbfReader, end?: number): StreamedBodyResponse {
    const obj = {body: undefined, end_of_stream: false};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.body = pbf.readBytes();
        else if (field === 2) obj.end_of_stream = pbf.readBoolean();
    }
    return obj;
}
export function writeStreamedBodyResponse(obj: StreamedBodyResponse, pbf: PbfWriter): void {
    if (obj.body != null) pbf.writeBytesField(1, obj.body);
    if (obj.end_of_stream) pbf.writeBooleanField(2, obj.end_of_stream);
}

export function readImmediateResponse(pbf: PbfReader, end?: number): ImmediateResponse {
    const obj = {status: undefined, headers: undefined, body: undefined, details: ""};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.status = readHttpStatus(pbf, pbf.readVarint() + pbf.pos);
        else if (field === 2) obj.headers = readHeaderMutation(pbf, pbf.readVarint() + pbf.pos);
        else if (field === 3) obj.body = pbf.readBytes();
        else if (field === 5) obj.details = pbf.readString();
    }
    return obj;
}
export function writeImmediateResponse(obj: ImmediateResponse, pbf: PbfWriter): void {
    if (obj.status) pbf.writeMessage(1, writeHttpStatus, obj.status);
    if (obj.headers) pbf.writeMessage(2, writeHeaderMutation, obj.headers);
    if (obj.body != null) pbf.writeBytesField(3, obj.body);
    if (obj.details) pbf.writeStringField(5, obj.details);
}

export function readHttpStatus(pbf: PbfReader, end?: number): HttpStatus {
    const obj = {code: 0};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.code = pbf.readVarint();
    }
    return obj;
}
export function writeHttpStatus(obj: HttpStatus, pbf: PbfWriter): void {
    if (obj.code) pbf.writeVarintField(1, obj.code);
}

export function readHealthCheckRequest(pbf: PbfReader, end?: number): HealthCheckRequest {
    const obj = {service: ""};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.service = pbf.readString();
    }
    return obj;
}
export function writeHealthCheckRequest(obj: HealthCheckRequest, pbf: PbfWriter): void {
    if (obj.service) pbf.writeStringField(1, obj.service);
}

export function readHealthCheckResponse(pbf: PbfReader, end?: number): HealthCheckResponse {
    const obj = {status: 0};
    let field;
    while ((field = pbf.nextField(end))) {
        if (field === 1) obj.status = pbf.readVarint();
    }
    return obj;
}
export function writeHealthCheckResponse(obj: HealthCheckResponse, pbf: PbfWriter): void {
    if (obj.status) pbf.writeVarintField(1, obj.status);
}
