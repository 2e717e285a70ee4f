// The entry `./adapters/node`: named exports only, each with its contract in TSDoc.
export { type BashOptions, bashTool, defaultDenyPatterns } from './bash/bash-tool.ts'
export { SandboxUnavailable } from './bash/sandbox.ts'
export { type NodeToolsOptions, nodeTools } from './node-tools.ts'
export { ripgrepSearcher } from './search/ripgrep.ts'
export { fileSessionStore } from './session/file-session-store.ts'
export { deleteSession, listSessionIds, loadSession, loadSessionsForAgent, saveSession } from './session/ledger-files.ts'
export { nodeWorkspace } from './workspace/node-workspace.ts'
