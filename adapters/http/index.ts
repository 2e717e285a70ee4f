export { type AgentAppOptions, createAgentApp } from './agent-app.ts'
export type { Problem } from './problem.ts'
export { toSse } from './to-sse.ts'
