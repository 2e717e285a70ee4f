import type { AgentTool, Model, SessionStore } from 'phi-core'
import { createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { meterApp, traceLoops } from 'phi-core/otel'

interface ServerParts {
  store: SessionStore
  model: Model
  tools: readonly AgentTool[]
  write: (line: string) => void
}

/** A server with one log line per request, metrics, and an operator who can read and stop all runs. */
export function operatedServer({ store, model, tools, write }: ServerParts) {
  const logger = {
    warn: (event: string, fields: object) => write(JSON.stringify({ level: 'warn', event, ...fields })),
    info: (event: string, fields: object) => write(JSON.stringify({ level: 'info', event, ...fields })),
  }
  const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools, observers: [traceLoops()], logger }), logger })
  const app = createAgentApp({
    sessions,
    authorize: (c) => c.req.header('x-user'),
    authorizeOperator: (c) => c.req.header('x-operator'),
    observers: [meterApp()],
    maxLagMs: 200,
    logger,
  })
  return { app, sessions }
}
