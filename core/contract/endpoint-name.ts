/** The default name of an endpoint, made from its address; for example "gpu1-8000" for http://gpu1:8000. */
export function endpointName(address: { readonly hostname: string; readonly port: number; readonly basePath: string }): string {
  const { hostname, port, basePath } = address;
  return `${hostname}-${port}${basePath}`.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
}
