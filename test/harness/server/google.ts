import type { Protocol, Turn } from './scenarios.ts'

interface WireContent {
  role: string
  parts: { functionResponse?: { response: { output?: string; error?: string } } }[]
}

interface Flavour {
  endpoint: string
  /** Whether calls carry ids and signatures, as from Gemini 3 on. */
  isSigned: boolean
}

function chunk(parts: object[], more: object = {}, usage: object = { promptTokenCount: 20, totalTokenCount: 20 }): string {
  const candidates = [{ content: { parts, role: 'model' }, index: 0, ...more }]
  // The service ends its lines with CRLF.
  return `data: ${JSON.stringify({ candidates, usageMetadata: usage, modelVersion: 'fixture', responseId: 'r1' })}\r\n\r\n`
}

function* framesOf(turn: Turn, { isSigned }: Flavour): Generator<string> {
  for (const text of turn.text) yield chunk([{ text }])
  for (const { id, name, arguments: args } of turn.calls ?? []) {
    yield chunk([isSigned ? { functionCall: { id, name, args }, thoughtSignature: 'c2lnbmVk' } : { functionCall: { name, args } }])
  }
  const counts = { promptTokenCount: 20, candidatesTokenCount: 6, thoughtsTokenCount: 3, totalTokenCount: 29 }
  yield chunk([{ text: '' }], { finishReason: 'STOP' }, counts)
}

function protocol(flavour: Flavour): Protocol {
  return {
    endpoint: flavour.endpoint,
    frames: (turn) => [...framesOf(turn, flavour)],
    failure: (message) => JSON.stringify({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
    toolResults(body) {
      const { contents } = body as { contents: WireContent[] }
      const newest = contents.slice(contents.findLastIndex((content) => content.role === 'model') + 1)
      const responses = newest.flatMap(({ parts }) => parts.flatMap((part) => part.functionResponse?.response ?? []))
      return responses.map(({ output, error }) => output ?? error ?? '')
    },
  }
}

const method = ':streamGenerateContent?alt=sse'

/** The Gemini API, as it serves Gemini 2.5: calls without ids. */
export const google = protocol({ endpoint: `/v1beta/models/gemini-2.5-flash${method}`, isSigned: false })

/** Vertex AI with a project, as it serves Gemini 3. */
export const vertex = protocol({
  endpoint: `/v1/projects/p/locations/global/publishers/google/models/gemini-3.5-flash${method}`,
  isSigned: true,
})
