import { Agent, defineTool, type ToolContext } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { z } from 'zod'

interface Tenant {
  tenant: string
  token: string
}

// The type of `ctx` says what a prompt must pass.
const orders = defineTool({
  name: 'orders',
  description: 'Lists the open orders of the customer.',
  parameters: z.object({}),
  execute: (_args, ctx: ToolContext<Tenant>) => ordersOf(ctx.context.tenant, ctx.context.token),
})

/** Stands for a request to your own API with the token of the user. */
const ordersOf = (tenant: string, token: string): string[] => (token === 'secret' ? [`${tenant}-1`, `${tenant}-2`] : [])

export async function openOrders(tenant: Tenant): Promise<string> {
  const model = scripted([{ toolCalls: [{ name: 'orders', arguments: {} }] }, { text: 'There are two open orders.' }])
  const agent = new Agent({ model, tools: [orders], systemPrompt: ({ context }) => `You work for ${context.tenant}.` })
  return agent.prompt('Which orders are open?', { context: tenant }).text()
}
