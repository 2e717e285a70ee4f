import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Samples of what services send, made by hand from their declarations. They are no part of this repository. */
const folder = new URL('../../../shared/reference/content-samples/', import.meta.url)

/** What a sample says of the tools of a service. */
export interface ExpectedTool {
  id?: string
  name: string
  server?: string
  status?: string
  input?: unknown
  output?: unknown
  error?: unknown
}

/** What a sample promises, as far as tests look at it. */
export interface Expected {
  text?: string
  stop?: string
  refusal?: string
  toolCalls?: { id: string; name: string; arguments?: unknown; args?: unknown }[]
  serviceTools?: ExpectedTool[]
  citations?: {
    url?: string
    title?: string
    citedText?: string
    of?: string
    range?: [number, number]
    document?: object
    page?: number
  }[]
  opaque?: string[]
  usage?: Record<string, unknown>
  container?: string
  media?: { mimeType?: string; data?: string | string[]; url?: string; partials?: string[] }[]
  files?: { fileId?: string; name?: string }[]
  approvals?: string[]
  approval?: { id: string }
  next?: unknown
}

/** One sample: the events of its stream, and what must come of them. */
export interface Sample {
  name: string
  events: { event?: string; data: unknown }[]
  expect: Expected
}

/** The samples of a protocol; none where the folder is not there. */
export function samplesOf(protocol: string): Sample[] {
  if (!existsSync(folder)) {
    console.warn('SKIPPED: the samples of content are not here (../shared/reference/content-samples).')
    return []
  }
  return [...linesOf(protocol), ...filesOf(protocol)]
}

function linesOf(protocol: string): Sample[] {
  const lines = readFileSync(new URL(`${protocol}.jsonl`, folder), 'utf8').split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const { id, stream, expect } = JSON.parse(withPictures(line))
      return {
        name: id,
        expect,
        events: stream.map((data: { type?: string }) => ({ data, ...(data.type !== undefined && { event: data.type }) })),
      }
    })
}

function filesOf(protocol: string): Sample[] {
  const files = readdirSync(folder).filter((name) => name.startsWith('service-') && name.endsWith('.json'))
  return files
    .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
    .flatMap((made) => (made.protocol === protocol ? [{ name: made.name, expect: made.expect, events: made.frames }] : []))
}

/** The pictures that lines name stand in the folder's README. */
function withPictures(line: string): string {
  const readme = readFileSync(new URL('README.md', folder), 'utf8')
  return line.replaceAll(/"@([A-Z0-9]+)"/g, (whole, name: string) => {
    const found = new RegExp(`@${name} (\\S+)`).exec(readme)
    return found === null ? whole : JSON.stringify(found[1])
  })
}

/** The events of a sample as server-sent events. */
export function sseOf({ events }: Sample): Uint8Array {
  const frames = events.map(
    ({ event, data }) =>
      `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  )
  return new TextEncoder().encode(frames.join(''))
}
