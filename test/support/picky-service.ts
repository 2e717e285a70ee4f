import { Agent, type AgentMessage, type AgentOptions, type Content, type UserMessage } from '../../src/index.ts'
import type { Wire } from '../harness/fixture-model.ts'
import type { Reply } from '../harness/server/scenarios.ts'
import { image, png } from './pictures.ts'
import { type WireReply, WireServer } from './wire-server.ts'

/** One server for the services of a file; the file starts and stops it. */
export const server = new WireServer()

/** What a service was sent. */
export type Body = Record<string, unknown>
/** What it answers. */
export type Answering = WireReply | ((body: Body) => WireReply)

/** What it answers if it has nothing against a request. */
export const saying: Reply = { turn: { text: ['Done.'] } }
export const good = image(png(3, 3, { shade: 1 }))
export const bad = image(png(3, 3, { shade: 2 }))
export const worse = image(png(3, 3, { shade: 3 }))
export const other = image(png(3, 3, { shade: 4 }))

/** A question about `media`. */
export const asking = (...media: Content[]): UserMessage => ({
  role: 'user',
  content: [...media, { type: 'text', text: 'What is it?' }],
  timestamp: 1,
})

/** Whether a body, or anything else, has the bytes or the address of `block`. */
export const isIn = (block: Content, body: unknown): boolean =>
  JSON.stringify(body).includes(Object(block).data ?? `"${Object(block).url}"`)

/** Where a text stands in a body, step by step; `undefined` where it does not. */
function pathTo(text: string, value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.includes(text) ? [] : undefined
  for (const [step, inner] of Object.entries(Object(value))) {
    const rest = pathTo(text, inner)
    if (rest !== undefined) return [step, ...rest]
  }
  return undefined
}

/** The place of `block` as the service of `wire` writes it. */
function placeOf(wire: Wire, block: Content, body: Body): string {
  const steps = pathTo(String(Object(block).data), body) ?? []
  if (wire !== 'anthropic' && wire !== 'bedrock')
    return steps
      .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
      .join('')
      .slice(1)
  // Claude names the kind of a block within its place.
  const at = steps.lastIndexOf('source')
  return (wire === 'anthropic' ? [...steps.slice(0, at), 'image', ...steps.slice(at)] : steps).join('.')
}

/** A service that refuses the first of `refused` that it is sent, and names its place if it is to. */
export function picky(wire: Wire, refused: readonly Content[], names: boolean): (body: Body) => WireReply {
  return (body) => {
    const found = refused.find((block) => isIn(block, body))
    if (found === undefined) return saying
    const where = names ? `${placeOf(wire, found, body)}: ` : ''
    return { status: 400, message: `${where}Could not process image` }
  }
}

/** An agent on a service of its own: what that was sent, which bodies have a block, and what was warned of. */
export function agentOn(wire: Wire, replies: Answering[], options: Partial<AgentOptions> = {}) {
  const { model, sent } = server.service(wire, ...replies)
  const warnings: string[] = []
  const logger = { warn: (event: string, { message }: { message?: unknown }) => warnings.push(`${event}: ${String(message)}`) }
  const agent = new Agent({ model: model(), logger, ...options })
  return { agent, model, sent, warnings, has: (block: Content) => sent.map((body) => isIn(block, body)) }
}

/** How many media each response says were refused. */
export const refusedIn = (messages: readonly AgentMessage[]): number[] =>
  messages.flatMap((message) => (message.role === 'assistant' ? (message.refusedMedia?.length ?? 0) : []))
