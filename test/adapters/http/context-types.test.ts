import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { type LiveAgentOptions, LiveSessionObject } from '../../../adapters/cloudflare/index.ts'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { postgresLiveSessions } from '../../../adapters/postgres/index.ts'
import { type AgentTool, defineTool, memorySessionStore, type ToolContext } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const query = defineTool({
  name: 'query',
  description: 'Queries.',
  parameters: z.object({}),
  execute: (_args, ctx: ToolContext<{ tenant: string }>) => ctx.context.tenant,
})
const audit = defineTool({
  name: 'audit',
  description: 'Audits.',
  parameters: z.object({}),
  execute: (_args, ctx: ToolContext<{ token: string }>) => ctx.context.token,
})
const model = scripted([])
const store = memorySessionStore()
const authorize = () => true

it('requires the context that the tools of the sessions declare', () => {
  const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools: [query, audit] }) })
  createAgentApp({ sessions, authorize, context: () => ({ tenant: 'acme', token: 't' }) })
  createAgentApp({ sessions, authorize, context: async (c) => (c === undefined ? undefined : { tenant: 'acme', token: 't' }) })
  createAgentApp({ sessions: () => sessions, dev: true, context: () => ({ tenant: 'acme', token: 't' }) })
  // @ts-expect-error `context` is missing
  createAgentApp({ sessions, authorize })
  // @ts-expect-error `context` is missing
  createAgentApp({ sessions: () => sessions, dev: true })
  // @ts-expect-error `token` is missing
  createAgentApp({ sessions, authorize, context: () => ({ tenant: 'acme' }) })
  // @ts-expect-error a wrong type
  createAgentApp({ sessions: () => sessions, dev: true, context: () => ({ tenant: 1, token: 't' }) })
  const inPostgres = (options: Parameters<typeof postgresLiveSessions>[0]) =>
    postgresLiveSessions({ ...options, agent: async () => ({ model, tools: [query] }) })
  const wrong = (options: Parameters<typeof inPostgres>[0]) => {
    const shared = inPostgres(options)
    // @ts-expect-error `tenant` is missing
    createAgentApp({ sessions: shared, dev: true, context: () => ({}) })
  }
  expectTypeOf(wrong).toBeFunction()
})

it('accepts any context if the types of the tools are unknown', () => {
  const tools: AgentTool[] = [query]
  const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools }) })
  createAgentApp({ sessions, authorize, context: () => 1 })
  createAgentApp({ sessions: memoryLiveSessions({ store, agent: () => ({ model }) }), authorize, context: () => ({ a: 1 }) })
})

it('checks the context and the tools of a Durable Object', () => {
  abstract class Queries extends LiveSessionObject<object, { tenant: string; token: string }> {
    protected async agentOptions() {
      return { model, tools: [query, audit] }
    }
  }
  class Right extends Queries {
    protected override context(request: Request | undefined, { reason }: { reason: string }) {
      return request === undefined ? undefined : { tenant: reason, token: 't' }
    }
  }
  class Later extends Queries {
    protected override async context() {
      return { tenant: 'acme', token: 't' }
    }
  }
  class Wrong extends Queries {
    // @ts-expect-error `token` is missing
    protected override context() {
      return { tenant: 'acme' }
    }
  }
  class WrongTool extends LiveSessionObject<object, { user: string }> {
    // @ts-expect-error `query` needs `tenant`
    protected agentOptions() {
      return { model, tools: [query] }
    }
  }
  class Untyped extends LiveSessionObject<object> {
    protected agentOptions(): LiveAgentOptions {
      return { model, tools: [query] }
    }
    protected override context() {
      return 1
    }
  }
  expectTypeOf([Right, Later, Wrong, WrongTool, Untyped]).toBeArray()
})
