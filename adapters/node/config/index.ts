// The entry `./node/config`: agents from a file, on this machine. It needs zod 4; a file that names servers needs `@modelcontextprotocol/sdk` too.
export { loadConfigFile } from './load-config-file.ts'
export type { LoadConfigOptions, LoadedConfig } from './loaded-config.ts'
