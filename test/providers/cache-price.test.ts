import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/contract/message/content.ts'
import type { Message } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answerBy, authorOf, plainRequest, result, sentBody, user } from './model-call.ts'

/**
 * The service looks for entries at this many places: the marked block and those before it.
 * This is the "20-block lookback window" of https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
 */
const lookback = 20
const rates = { fresh: 1, read: 0.1, write: 1.25 }

/** A block of a request, in the order in which the service reads them. */
interface Block {
  json: string
  isMarked: boolean
}

type Wire = Record<string, unknown>

/** The service's cache: an entry ends at each marked block of an earlier request. */
class CacheModel {
  readonly #entries = new Set<string>()

  /** The price of a request, in the price of a fresh token. */
  priceOf(blocks: readonly Block[]): number {
    const prefixes: string[] = []
    for (const { json } of blocks) prefixes.push((prefixes.at(-1) ?? '') + json)
    const marked = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []))
    expect(marked.length).toBeLessThanOrEqual(4)
    const searched = marked.flatMap((mark) => Array.from({ length: lookback }, (_, back) => mark - back))
    const hits = searched.filter((at) => this.#entries.has(prefixes[at] ?? ''))
    const tokensUpTo = (at: number) => (prefixes[at]?.length ?? 0) / 4
    const read = tokensUpTo(Math.max(-1, ...hits))
    const written = tokensUpTo(Math.max(-1, ...marked))
    for (const at of marked) this.#entries.add(prefixes[at] ?? '')
    const total = tokensUpTo(blocks.length - 1)
    return read * rates.read + Math.max(0, written - read) * rates.write + (total - Math.max(written, read)) * rates.fresh
  }
}

/** What it would cost if each block were written once and read from then on. */
function idealOf(requests: readonly (readonly Block[])[]): number {
  let known = 0
  let price = 0
  for (const blocks of requests) {
    const total = blocks.reduce((sum, { json }) => sum + json.length / 4, 0)
    price += known * rates.read + (total - known) * rates.write
    known = total
  }
  return price
}

function listIn(value: unknown): Wire[] {
  return Array.isArray(value) ? value : []
}

/** Tools, system and messages of Messages and Converse; a mark stands in a block or behind it. */
function blocksOf(body: Wire): Block[] {
  const tools = listIn(body.tools ?? Object(body.toolConfig).tools)
  const messages = listIn(body.messages).flatMap(({ content }) => listIn(content))
  const blocks: Block[] = []
  for (const { cache_control, ...block } of [...tools, ...listIn(body.system), ...messages]) {
    const last = blocks.at(-1)
    if ('cachePoint' in block && last !== undefined) last.isMarked = true
    else blocks.push({ json: JSON.stringify(block), isMarked: cache_control !== undefined })
  }
  return blocks
}

interface Loop {
  turns: number
  /** Tool calls of each turn, one after the other. */
  width: (turn: number) => number
  /** What an end user says behind the results of a turn. */
  steering?: (turn: number) => string | undefined
  /** What the tool returns besides text. */
  media?: Content[]
}

/** The histories of the requests of a tool loop, each result some 4,000 tokens. */
function historiesOf(model: Model, { turns, width, steering, media = [] }: Loop): Message[][] {
  const history: Message[] = [user('Read all the files, then sum them up.')]
  const histories = [[...history]]
  for (let turn = 0; turn < turns; turn++) {
    const ids = Array.from({ length: width(turn) }, (_, at) => `call_${turn}_${at}`)
    const calls = ids.map((id): Content => ({ type: 'toolCall', id, name: 'read', arguments: { path: id } }))
    history.push(answerBy(authorOf(model.config), calls, { stopReason: 'toolUse' }))
    for (const id of ids) history.push(result(id, [{ type: 'text', text: id.padEnd(16_000, ' words') }, ...media]))
    const said = steering?.(turn)
    if (said !== undefined) history.push(user(said))
    histories.push([...history])
  }
  return histories
}

/** How many times the ideal price a loop costs. */
async function timesIdeal(model: Model, loop: Loop): Promise<number> {
  const cache = new CacheModel()
  const requests: Block[][] = []
  let price = 0
  for (const messages of historiesOf(model, loop)) {
    const tools = [{ name: 'read', description: 'Reads a file.', parameters: { type: 'object', properties: {} } }]
    const body = await sentBody(model.provider, plainRequest(model.config, { messages, tools, systemPrompt: 'Be brief. '.repeat(400) }))
    const blocks = blocksOf(body)
    requests.push(blocks)
    price += cache.priceOf(blocks)
  }
  return price / idealOf(requests)
}

const models: [string, () => Model][] = [
  ['Anthropic', () => anthropic('claude-opus-4-6')],
  ['Bedrock', () => bedrock('us.anthropic.claude-opus-4-6-v1')],
]
const picture: Content = { type: 'image', data: 'AAAA'.repeat(500), mimeType: 'image/png' }

describe.each(models)('cache breakpoints of a tool loop, %s', (_, model) => {
  it.each<[string, Loop]>([
    ['ten turns with one call each', { turns: 10, width: () => 1 }],
    ['ten turns with three calls each', { turns: 10, width: () => 3 }],
    ['wide turns with 30 calls each', { turns: 10, width: () => 30 }],
    ['a wide turn between narrow ones', { turns: 10, width: (turn) => (turn === 4 ? 30 : 1) }],
    ['wide turns with steering', { turns: 10, width: () => 30, steering: (turn) => (turn % 2 === 0 ? 'Go on.' : undefined) }],
    ['turns with images', { turns: 10, width: () => 30, media: [picture] }],
  ])('stays within two percent of the ideal cost in %s', async (_name, loop) => {
    expect(await timesIdeal(model(), loop)).toBeLessThanOrEqual(1.02)
  })
})
