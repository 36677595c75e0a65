/** What `npm run binary` calls of a package without types of its own. */
declare module "postject" {
  export function inject(file: string, name: string, data: Buffer, options: { readonly sentinelFuse: string }): Promise<void>;
}
