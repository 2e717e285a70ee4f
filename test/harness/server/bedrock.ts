import { crc32 } from 'node:zlib'
import type { Protocol, Turn } from './scenarios.ts'

interface Block {
  toolResult?: { content: { text?: string }[] }
}

/** One message of an AWS event stream, all its headers texts. */
export function awsFrame(headers: Record<string, string>, payload: string): Uint8Array {
  const encodedHeaders = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const bytes = Buffer.from(value)
      return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([7, 0, bytes.length]), bytes])
    }),
  )
  const body = Buffer.from(payload)
  const lengths = words(12 + encodedHeaders.length + body.length + 4, encodedHeaders.length)
  const covered = Buffer.concat([lengths, words(crc32(lengths)), encodedHeaders, body])
  return Buffer.concat([covered, words(crc32(covered))])
}

/** An event of ConverseStream. `p` is the padding with which the service hides lengths. */
function event(type: string, fields: object): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return awsFrame(headers, JSON.stringify({ ...fields, p: 'abcdefg' }))
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value, index * 4)
  })
  return bytes
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
