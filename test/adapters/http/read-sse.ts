import { type EventDecoder, eventDecoder } from '../../../src/client.ts'

/** One server-sent event as a client sees it, whole again; `event` is its type. */
export interface Frame {
  id?: number
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into the JSON of every kind of event.
  data: any
}

/** The frames of a response, as they arrive; comments are skipped. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  if (response.body === null) throw new Error('The response has no body.')
  const decoder = eventDecoder()
  let rest = ''
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    rest += text
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const frame = parse(rest.slice(0, end), decoder)
      rest = rest.slice(end + 2)
      if (frame !== undefined) yield frame
    }
  }
}

/** All frames until the end of the response. */
export async function allFrames(response: Response): Promise<Frame[]> {
  const all: Frame[] = []
  for await (const frame of frames(response)) all.push(frame)
  return all
}

function parse(block: string, decoder: EventDecoder): Frame | undefined {
  if (block.startsWith(':')) return undefined
  const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
  const [id, name, data = 'null'] = [fields.get('id'), fields.get('event'), fields.get('data')]
  // `event: error` is no event of the run.
  if (name !== undefined) return { event: name, data: JSON.parse(data) }
  const event = decoder.decode(data, id)
  return { id: Number(id), event: event.type, data: event }
}
