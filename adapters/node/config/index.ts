// The entry `phi-core/node/config`: agents from a file, on this machine. It needs zod 4; a file that names servers needs `@modelcontextprotocol/sdk` too.
export { type LoadConfigOptions, type LoadedConfig, loadConfigFile } from './load-config-file.ts'
