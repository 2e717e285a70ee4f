import type { Protocol, Turn } from './scenarios.ts'

interface Block {
  toolResult?: { content: { text?: string }[] }
}

/** The CRC of zip files, bit by bit: another way than that of src, and the same in every runtime. */
function crc32(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

/** `parts`, one after the other: texts, bytes, and numbers as four bytes with the highest first. */
function joined(...parts: (string | number | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  return Uint8Array.from(
    parts.flatMap((part) => {
      if (typeof part === 'number') return [part >>> 24, part >>> 16, part >>> 8, part]
      return [...(typeof part === 'string' ? encoder.encode(part) : part)]
    }),
  )
}

/** One message of an AWS event stream, all its headers texts. */
export function awsFrame(headers: Record<string, string>, payload: string): Uint8Array<ArrayBuffer> {
  const encodedHeaders = joined(
    ...Object.entries(headers).map(([name, value]) => {
      const bytes = joined(value)
      return joined(Uint8Array.of(joined(name).length), name, Uint8Array.of(7, 0, bytes.length), bytes)
    }),
  )
  const body = joined(payload)
  const lengths = joined(12 + encodedHeaders.length + body.length + 4, encodedHeaders.length)
  const covered = joined(lengths, crc32(lengths), encodedHeaders, body)
  return joined(covered, crc32(covered))
}

/** An event of ConverseStream. `p` is the padding with which the service hides lengths. */
function event(type: string, fields: object): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return awsFrame(headers, JSON.stringify({ ...fields, p: 'abcdefg' }))
}

function* framesOf(turn: Turn): Generator<Uint8Array> {
  yield event('messageStart', { role: 'assistant' })
  for (const text of turn.text) yield event('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })
  yield event('contentBlockStop', { contentBlockIndex: 0 })
  for (const [index, call] of (turn.calls ?? []).entries()) {
    const contentBlockIndex = index + 1
    yield event('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: call.id, name: call.name } } })
    for (const input of JSON.stringify(call.arguments).match(/.{1,4}/g) ?? []) {
      yield event('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input } } })
    }
    yield event('contentBlockStop', { contentBlockIndex })
  }
  yield event('messageStop', { stopReason: turn.calls ? 'tool_use' : 'end_turn' })
  yield event('metadata', { usage: { inputTokens: 20, outputTokens: 9, totalTokens: 29 }, metrics: { latencyMs: 1 } })
}

/** Amazon Bedrock ConverseStream, in its binary framing. */
export const bedrock: Protocol = {
  endpoint: '/model/us.anthropic.claude-sonnet-4-5/converse-stream',
  contentType: 'application/vnd.amazon.eventstream',
  frames: (turn) => [...framesOf(turn)],
  failure: (message) => JSON.stringify({ message }),
  toolResults(body) {
    const { messages } = body as { messages: { role: string; content: Block[] }[] }
    const newest = messages.slice(messages.findLastIndex((message) => message.role === 'assistant') + 1)
    const results = newest.flatMap((message) => message.content).flatMap((block) => block.toolResult ?? [])
    return results.map((result) => result.content.map((part) => part.text ?? '').join(''))
  },
}
