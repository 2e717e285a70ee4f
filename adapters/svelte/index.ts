export { type AgentStore, useAgent, useMessage, usePart } from './use-agent.ts'
