import { defineTool, type Model, memorySessionStore, type ToolContext } from 'phi-core'
import { callerToken, createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { z } from 'zod'

interface Tenant {
  tenant: string
  token: string
}

/** Your user database. */
type TenantOf = (token: string | undefined) => string | undefined

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  parameters: z.object({ order: z.string() }),
  needsApproval: true,
  execute: ({ order }, { context: { tenant, token } }: ToolContext<Tenant>) => `${tenant} refunded ${order} with ${token}.`,
})

/** Serves one agent to several tenants. Each run has the token of the person who started it, also if another person approves. */
export function tenantsApp(model: Model, tenantOf: TenantOf) {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools: [refund] }) })
  return createAgentApp({
    sessions,
    authorize: (c) => tenantOf(callerToken(c)),
    context: (c) => {
      const token = c && callerToken(c)
      const tenant = tenantOf(token)
      return token === undefined || tenant === undefined ? undefined : { tenant, token }
    },
  })
}
