import { describe, expect, it } from 'vitest'
import { parseArguments } from '../src/base/json/call-arguments.ts'
import { parsePartialJson } from '../src/base/json/partial-json.ts'
import { eventDecoder } from '../src/client.ts'
import { parseConfig } from '../src/config.ts'
import { parseSnapshot } from '../src/contract/session/snapshot.ts'
import { PhiError } from '../src/index.ts'
import { readingsOf } from '../src/loop/calls/repair/readings.ts'
import { callResult } from '../src/mcp/call-result.ts'
import { serverSchema } from '../src/mcp/tool-schema.ts'
import { openApiTools } from '../src/openapi.ts'
import { readErrorFacts } from '../src/providers/kit/errors/error-facts.ts'
import { readLog } from '../src/session/log/read-log.ts'
import { parseMessages, parseSession } from '../src/session.ts'
import { createLineDecoder } from '../src/stream/lines.ts'
import { createSseDecoder } from '../src/stream/sse.ts'
import { parseSkill } from '../src/tools.ts'
import { readRunInput } from '../src/ui/ag-ui.ts'
import { readChatRequest } from '../src/ui/ai-sdk.ts'
import { readCompletionRequest, readResponseRequest } from '../src/ui/openai.ts'
import { runs } from './support/runs.ts'

const times = (piece: string, size: number): string => piece.repeat(Math.floor(size / piece.length))
const around = (open: string, middle: string, close: string, size: number): string => {
  const levels = Math.floor(size / (open.length + close.length))
  return open.repeat(levels) + middle + close.repeat(levels)
}

/** Texts that are deep, wide, or nearly something, of some `size`. No promise of any is that it can be read. */
const hostile: Readonly<Record<string, (size: number) => string>> = {
  'a key of many parts': (size) => `${times('a.', size)}a = 1`,
  'a header of many parts': (size) => `[${times('a.', size)}a]\nb = 1`,
  'a list header of many parts': (size) => `[[${times('"a".', size)}a]]\nb = 1`,
  'open lists': (size) => times('[', size),
  'open objects': (size) => times('{"a":', size),
  'nested lists': (size) => around('[', '1', ']', size),
  'nested objects': (size) => around('{"a":', '1', '}', size),
  'nested lists in a field': (size) => `{"messages":${around('[', '1', ']', size)}}`,
  'nested schemas': (size) => around('{"type":"object","properties":{"a":', '{}', '}}', size),
  'nested content': (size) => `[{"role":"user","content":[{"type":"text","text":"a","x":${around('[', '1', ']', size)}}]}]`,
  'many keys': (size) => `{${Array.from({ length: size / 10 }, (_, n) => `"k${n}":1`).join(',')}}`,
  'one key many times': (size) => `{${times('"a":1,', size)}"a":1}`,
  'many empty objects': (size) => times('{}', size),
  'objects that begin again': (size) => times('{"a":1', size),
  'an open text': (size) => `{"a":"${times('x', size)}`,
  escapes: (size) => `{"a":"${times('\\u0041', size)}\\d"}`,
  'quotes and backslashes': (size) => times('\\"', size),
  'front matter without an end': (size) => `---\n${times('a: b\n', size)}`,
  'nested dashes': (size) => `---\n${times('- ', size)}\n---\n`,
  'nested maps': (size) => `---\na: ${times('{a: ', size)}\n---\n`,
  'many documents': (size) => times('---\n', size),
  'many fences': (size) => times('```\n', size),
  'lines of a frame': (size) => times('data: {"a":\n', size),
  'frames without an end': (size) => times('data: ', size),
  'empty lines': (size) => times('\r\n', size),
  'carriage returns': (size) => times('data: a\r', size),
  blanks: (size) => times(' ', size),
}

/** What `JSON.parse` makes of it; the text where it is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function inPieces(text: string, feed: (bytes: Uint8Array) => void): void {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += 1000) feed(bytes.subarray(at, at + 1000))
}

/** Everything that reads what a stranger wrote. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'a TOML file': (text) => parseConfig(text, 'toml'),
  'a YAML file': (text) => parseConfig(text, 'yaml'),
  'a JSON file': (text) => parseConfig(text, 'json'),
  'a skill': (text) => parseSkill(text),
  'the front matter of a skill': (text) => parseSkill(`---\nname: a\ndescription: b\nmetadata: ${text}\n---\nBody.`),
  'an API description': (text) => openApiTools(text, { baseUrl: 'https://api.example.org' }),
  'arguments of a call': parseArguments,
  'broken arguments of a call': readingsOf,
  'an object while it is written': parsePartialJson,
  'stored messages': parseMessages,
  'a stored session': parseSession,
  'a snapshot': parseSnapshot,
  'a log': (text) => readLog(text.split('\n')),
  'server-sent events': (text) => inPieces(text, createSseDecoder(() => undefined).feed),
  'lines of JSON': (text) => inPieces(text, createLineDecoder(() => undefined).feed),
  'events of our own wire': (text) => eventDecoder().decode(text),
  'a result of an MCP server': (text) => callResult(jsonOf(text)),
  'structured content of an MCP server': (text) => callResult({ content: [], structuredContent: jsonOf(text) }),
  'a schema of an MCP server': (text) => serverSchema(jsonOf(text)),
  'the body of a refusal': (text) => readErrorFacts(jsonOf(text), 400),
  'a body of useChat': readChatRequest,
  'a body of AG-UI': readRunInput,
  'a body of Chat Completions': readCompletionRequest,
  'a body of Responses': readResponseRequest,
}

/** A stack that overflows is no refusal: it depends on the engine and on who calls. */
async function outcomeOf(read: (text: string) => unknown, text: string): Promise<unknown> {
  try {
    await read(text)
    return undefined
  } catch (error) {
    return error
  }
}

const sizes = process.env.PHI_SIZES === undefined ? [runs(50_000, 100_000)] : process.env.PHI_SIZES.split(',').map(Number)

// What takes too long ends the test with its time limit, and what takes too much memory the process.
describe.each(Object.entries(readers))('%s', (name, read) => {
  it('accepts or rejects deep, wide and incomplete input without crashing', async () => {
    for (const size of sizes) {
      let slowest = { ms: 0, kind: '' }
      for (const [kind, write] of Object.entries(hostile)) {
        const text = write(size)
        const start = performance.now()
        const error = await outcomeOf(read, text)
        const ms = performance.now() - start
        if (ms > slowest.ms) slowest = { ms, kind }
        if (error !== undefined) expect(PhiError.isInstance(error), `${kind}: ${String(error).slice(0, 200)}`).toBe(true)
      }
      if (process.env.PHI_SIZES !== undefined) console.log(`TIME ${name} | ${size} | ${slowest.ms.toFixed(0)} ms | ${slowest.kind}`)
    }
  }, 30_000)
})
