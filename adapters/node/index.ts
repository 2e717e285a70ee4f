// The entry `./adapters/node`: named exports only, each with its contract in TSDoc. It needs no optional peer: what needs one is an entry of its own.
export { type BashOptions, type Confinement, defaultDenyPatterns } from './bash/bash-settings.ts'
export { type BashTool, bashTool } from './bash/bash-tool.ts'
export type { BashLimits } from './bash/launch.ts'
export { SandboxUnavailable } from './bash/sandbox.ts'
export {
  type FetchHandler,
  type NodeEnv,
  type NodeHandler,
  type NodeIncoming,
  type NodeOutgoing,
  toNodeHandler,
} from './http/to-node-handler.ts'
export { type NodeToolsOptions, nodeTools } from './node-tools.ts'
export type { HostPrograms } from './policy/programs.ts'
export type { ProtectionOptions } from './policy/workspace-policy.ts'
export { type Interpreters, ScriptHookError, type ScriptHookErrorCode } from './script-hooks/script-file.ts'
export { type ScriptHookOptions, scriptHooks } from './script-hooks/script-hooks.ts'
export { type RipgrepOptions, ripgrepSearcher } from './search/ripgrep.ts'
export { fileSchedules, fileSessionStore } from './session/file-session-store.ts'
export { nodeWorkspace } from './workspace/node-workspace.ts'
