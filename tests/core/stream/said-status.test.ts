import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { saidStatus, statusAtEnd } from "../../../core/stream/said-status.ts";

describe("an error means the status", () => {
  const rows: readonly (readonly [said: string, status: number])[] = [
    ['data: {"error":{"code":400}}', 400],
    ['data:{"error":{"code":"404"}}', 404],
    ['data: {"error":{"message":"x","http_status_code":422}}', 422],
    ['data: {"error":"Input validation error","error_type":"validation"}', 422],
    ['event: error\r\ndata: {"type":"error","error":{"type":"rate_limit_error"}}', 429],
    ['event: error\ndata: {"type":"error",\ndata: "error":{"type":"authentication_error"}}', 401],
    ['event: error\ndata: {"type":"error","code":"invalid_prompt","message":"x","param":null}', 400],
    ['data: {"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded"}}}', 429],
    ['data: {"type":"response.failed","response":{"error":{"code":"image_file_not_found"}}}', 400],
    ['error: {"code":400,"type":"exceed_context_size_error"}', 400],
    ['data: {"error":{"type":"exceed_context_size_error"}}', 400],
    ['{"object":"error","type":"Too Many Requests"}', 429],
    ['{"error":{"type":"Request Entity Too Large"}}', 413],
    ['{"error":{"type":"NotFoundError","code":null}}', 404],
    ['{"error":{"type":"permission_denied"}}', 403],
    ['{"error":{"status":"INVALID_ARGUMENT"}}', 400],
    // The replica's own.
    ['data: {"error":{"code":500,"type":"BadRequestError"}}', 0],
    ['data: {"error":{"code":503}}', 0],
    ['data: {"error":{"code":424,"type":"generation"}}', 0],
    ['data: {"error":{"type":"InternalServerError"}}', 0],
    ['data: {"type":"error","error":{"type":"overloaded_error"}}', 0],
    ['data: {"error":{"type":"api_error","code":"upstream_invalid"}}', 0],
    ['data: {"type":"response.failed","response":{"error":{"code":"server_error"}}}', 0],
    ['data: {"error":{"code":500,"detail":{"code":400,"type":"BadRequestError"}}}', 0],
    ['data: {"error":{"message":"\\"code\\":400"}}', 0],
    ['data: {"error":"boom"}', 0],
    ["event: error\ndata: boom 400", 0],
    ['data: {"error":{"code":-32602}}', 0],
    ['{"error":{"code":400}', 0],
    ["null", 0],
    ["", 0],
  ];
  for (const [said, status] of rows) it(said, () => assert.equal(saidStatus(said), status));
});

describe("an error without its beginning means the status", () => {
  const rows: readonly (readonly [said: string, status: number])[] = [
    ['too long","type":"BadRequestError","param":null,"code":400}}\n\ndata: [DONE]\n\n', 400],
    ['"code": 500, \\"code\\": 400","type":"BadRequestError"}}', 0],
    ['\\"code\\":500","type":"invalid_request_error"}}\n\n', 400],
    ["a text that says code: 400", 0],
  ];
  for (const [said, status] of rows) it(said, () => assert.equal(statusAtEnd(said), status));
});
