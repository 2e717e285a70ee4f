// The entry `phi-core/node/config`: loads agent files. It needs zod 4, and `@modelcontextprotocol/sdk` for files with MCP servers.
export { type LoadConfigOptions, type LoadedConfig, loadConfigFile } from './load-config-file.ts'
