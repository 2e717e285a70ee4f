// The entry `./plugins`: named exports only, each with its contract in TSDoc.

export { definePlugin } from './loop/plugins/define-plugin.ts'
export type { AgentPlugin } from './types/run/hooks.ts'
export type {
  FailedRequest,
  PluginCall,
  PluginDefinition,
  PluginQuestion,
  PluginRequest,
  PluginRun,
  PluginStages,
  PluginTurn,
  RequestChanges,
  RequestRetry,
  ResponseDelta,
} from './types/run/plugin.ts'
