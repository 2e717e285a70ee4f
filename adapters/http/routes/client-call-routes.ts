import type { ClientCallAnswer } from '../../../src/client.ts'
import { clientId as namesPage } from '../../../src/contract/run/run-facts.ts'
import { fits } from '../../../src/contract/shape/read.ts'
import type { JsonObject } from '../../../src/index.ts'
import { readOwnBody } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import type { ClientCallRef } from '../live/commands/client-calls.ts'
import type { SessionApp, SessionRouteOptions } from './route-options.ts'

/**
 * Adds the routes for client tools: pending calls, claims and results.
 *
 * **Contract**
 * - Responds to a result with 202 once it is recorded. Rejects an invalid or too long result, and the call stays pending.
 *
 * Source: docs/concepts/tools.md
 */
export function addClientCallRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/client-calls', async (c) => c.json({ clientCalls: await c.env.gateway.read.clientCalls() }))
  app.post('/client-calls/:toolCallId/claim', async (c) => {
    const ref = refIn(c.req.param('toolCallId'), await readOwnBody(c, options.body, ['argumentsHash', 'clientId']))
    const { clientId } = ref
    if (clientId === undefined) refuse(400, 'invalidBody', `clientId must be ${namesPage.expected}: it names this page.`)
    // Losing a claim is not a client error.
    return c.json(await c.env.gateway.command({ type: 'claimCall', ...ref, clientId }))
  })
  app.post('/client-calls/:toolCallId', async (c) => {
    const body = await readOwnBody(c, options.body, ['argumentsHash', 'clientId', 'output', 'error'])
    const ref = refIn(c.req.param('toolCallId'), body)
    const { loopId } = await c.env.gateway.command({ type: 'answerCall', ...ref, answer: answerIn(body) })
    return c.json({ loopId }, 202)
  })
}

function refIn(toolCallId: string, { argumentsHash, clientId }: JsonObject): ClientCallRef & { argumentsHash: string } {
  if (typeof argumentsHash !== 'string') refuse(400, 'invalidBody', 'argumentsHash must be the hash of the call that was shown.')
  if (clientId === undefined) return { toolCallId, argumentsHash }
  if (!fits(namesPage, clientId)) refuse(400, 'invalidBody', `clientId must be ${namesPage.expected}.`)
  return { toolCallId, argumentsHash, clientId }
}

function answerIn({ output, error }: JsonObject): ClientCallAnswer {
  if (typeof error === 'string' && output === undefined) return { error }
  if (output !== undefined && error === undefined) return { output }
  refuse(400, 'invalidBody', 'Send { output } with a JSON value, or { error } with a string.')
}
