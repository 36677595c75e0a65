import type { LlhttpVerdict } from "./llhttp-cases.ts";

/** Every case we judge otherwise than llhttp: ours, and why. */
export const LLHTTP_DIFFERENCES: Readonly<Record<string, readonly [ours: LlhttpVerdict, why: string]>> = {
  "request/connection CRLF between requests, implicit `keep-alive`": [
    "refused",
    "two empty lines before a request; one is ignored",
  ],
  "request/connection Multiple tokens with folding and LWS": [
    "refused",
    "no upgrade: what follows is the next request, and is none",
  ],
  "request/connection Upgrade GET request": ["refused", "no upgrade: what follows is the next request, and is none"],
  "request/connection Upgrade POST request": ["refused", "no upgrade: what follows is the next request, and is none"],
  "request/content-length Error on `Content-Length` overflow": [
    "read",
    "the head is not complete, and framing is judged when it is",
  ],
  "request/content-length Error on duplicate `Content-Length`": [
    "read",
    "the head is not complete, and framing is judged when it is",
  ],
  "request/invalid HTTP protocol and ANNOUNCE method": ["read", "any token is a method here; the server answers 405"],
  "request/invalid Invalid method": ["read", "any token is a method here; the server answers 405"],
  "request/method CONNECT request": ["surplus", "no tunnel: HTTP/1.0 ends with its request"],
  "request/method CONNECT with body": ["surplus", "no tunnel: ten bytes of body, and one more"],
  "request/method SOURCE request with ICE": ["refused", "not HTTP"],
  "request/method OPTIONS request with RTSP": ["refused", "not HTTP"],
  "request/method ANNOUNCE request with RTSP": ["refused", "not HTTP"],
  "request/method PRI request HTTP2": ["refused", "no HTTP/2: what follows is the next request, and is none"],
  "request/sample No HTTP version": ["refused", "HTTP/0.9"],
  "request/transfer-encoding POST with `chunked` as last transfer-encoding": ["refused", "codings other than chunked: 501"],
  "request/transfer-encoding POST with `chunked` as last transfer-encoding (multiple headers)": [
    "refused",
    "codings other than chunked: 501",
  ],
  "request/uri Quotes in URI": ["refused", "RFC 3986 has no such character"],
  "request/uri Query URL with vertical bar character": ["refused", "RFC 3986 has no such character"],
  "request/uri Fragment in URI": ["refused", "RFC 9112 3.2 has no fragment"],
  "response/connection HTTP 101 response with Upgrade and Content-Length header": ["refused", "we never ask for an upgrade"],
  "response/connection HTTP 101 response with Upgrade and Transfer-Encoding header": ["refused", "we never ask for an upgrade"],
  "response/connection HTTP 304 with Content-Length": ["refused", "an empty line before a response"],
  "response/connection HTTP 100 first, then 400": ["refused", "an empty line before a response"],
  "response/pipelining Should parse multiple events": ["refused", "an empty line before a response"],
  "response/sample Response starting with CRLF": ["refused", "an empty line before a response"],
  "response/sample RTSP response": ["refused", "not HTTP"],
  "response/sample ICE response": ["refused", "not HTTP"],
  "response/sample HTTP version 0.9": ["refused", "HTTP/0.9"],
  "response/transfer-encoding `chunked` before other transfer-encoding": ["refused", "codings other than chunked"],
  "response/transfer-encoding multiple transfer-encoding where chunked is not the last one": [
    "refused",
    "codings other than chunked",
  ],
  "response/transfer-encoding `chunkedchunked` transfer-encoding does not enable chunked enconding": [
    "refused",
    "codings other than chunked",
  ],
};
