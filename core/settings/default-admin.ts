/** Of `spec.admin`. */
export const DEFAULT_ADMIN = {
  host: "127.0.0.1",
  port: 9090,
  isPortShared: false,
  hosts: [],
  tokens: [],
  isReadOnly: false,
};
