export { type AgentAppOptions, createAgentApp } from './agent-app.ts'
export { bearer } from './bearer.ts'
export { type Problem, problemResponse } from './problem.ts'
export { type SseOptions, toSse } from './to-sse.ts'
