export { useAgent, useMessage, usePart } from './use-agent.ts'
