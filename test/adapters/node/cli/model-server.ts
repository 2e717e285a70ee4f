import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { openai } from '../../../harness/server/openai.ts'
import type { Turn } from '../../../harness/server/scenarios.ts'

/** What a request said: who said what, in order. */
export interface Asked {
  model: string
  messages: { role: string; content: unknown }[]
  /** 1 for the first request. */
  attempt: number
}

/** A model that a test plays, as a service the command talks to. */
export interface ModelServer {
  /** For the environment of the command, with `--model openai/test`. */
  env: { OPENAI_API_KEY: string; OPENAI_BASE_URL: string }
  asked: Asked[]
}

/** Starts a service on 127.0.0.1 that answers as `answer` says; it stops when the test is over. What never resolves never answers. */
export async function modelServer(answer: (asked: Asked) => Turn | Promise<Turn>): Promise<ModelServer> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const { model, messages }: Pick<Asked, 'model' | 'messages'> = JSON.parse(await text(request))
    const next = { model, messages, attempt: asked.length + 1 }
    asked.push(next)
    const turn = await answer(next)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(openai.frames(turn).join(''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return { env: { OPENAI_API_KEY: 'test-key', OPENAI_BASE_URL: `http://127.0.0.1:${address.port}/v1` }, asked }
}

/** What people and programs have said in a request, as one text. */
export const messagesText = ({ messages }: Asked): string => JSON.stringify(messages)

/** An answer of one call. */
export const calling = (name: string, args: Record<string, unknown>): Turn => ({
  text: [],
  calls: [{ id: `call_${name}`, name, arguments: args }],
})

/** A service that answers with these calls, one after another, and then with `ok`, again for each thing said. */
export function playing(...calls: [string, Record<string, unknown>][]) {
  return modelServer(({ attempt }) => {
    const [name, given] = calls[attempt - 1] ?? []
    return name === undefined || given === undefined ? { text: [`ok ${attempt}`] } : calling(name, given)
  })
}
