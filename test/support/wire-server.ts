import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Model } from '../../src/index.ts'
import { models, type Transport, type Wire } from '../harness/fixture-model.ts'
import { anthropic } from '../harness/server/anthropic.ts'
import { bedrock } from '../harness/server/bedrock.ts'
import { google, vertex } from '../harness/server/google.ts'
import { openai } from '../harness/server/openai.ts'
import { azure, openaiResponses } from '../harness/server/openai-responses.ts'
import { play } from '../harness/server/play.ts'
import type { Protocol, Reply } from '../harness/server/scenarios.ts'
import { Switchboard } from '../harness/server/switchboard.ts'

const protocols: Record<Wire, Protocol> = { anthropic, openai, bedrock, 'openai-responses': openaiResponses, azure, google, vertex }

/** What the service answers: as the scenarios do, with a body and headers of its own, by hanging up at once, or not at all. */
export type WireReply = Reply | { status: number; body: string; headers?: Record<string, string> } | { gone: true } | { silent: true }

/** An answer, or what makes one of the body that was sent. */
type Answering = WireReply | ((body: Record<string, unknown>) => WireReply)

/** A service of one test: what it was sent, and the model that asks it. */
export interface WireService {
  model: (id?: string, options?: Transport) => Model
  /** Bodies, in their order. */
  sent: Record<string, unknown>[]
}

/** One server on this machine that plays any number of services, each as it is told. */
export class WireServer {
  readonly #board = new Switchboard()
  readonly #services = new Map<string, { wire: Wire; replies: Answering[]; sent: Record<string, unknown>[] }>()
  readonly #server: Server
  #url = ''

  constructor() {
    this.#server = createServer(async (request, response) => {
      const [, base = ''] = (request.url ?? '').split('/')
      const service = this.#services.get(base)
      if (service === undefined) return void response.writeHead(500).end('no such service')
      const body = (await json(request)) as Record<string, unknown>
      service.sent.push(body)
      const reply = service.replies[Math.min(service.sent.length, service.replies.length) - 1]
      if (reply !== undefined) await this.#answer(typeof reply === 'function' ? reply(body) : reply, service.wire, base, response)
    })
    // A connection that is kept is closed by `close` alone: on a busy machine five seconds pass between two requests, and the second is lost.
    this.#server.keepAliveTimeout = 0
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      this.#server.closeAllConnections()
    })
  }

  /** A service that speaks `wire` and answers its calls in turn, the last answer for ever. */
  service(wire: Wire, ...replies: Answering[]): WireService {
    const base = crypto.randomUUID()
    const sent: Record<string, unknown>[] = []
    this.#services.set(base, { wire, replies, sent })
    return {
      sent,
      model: (id, options) => {
        const model = models[wire](`${this.#url}/${base}`, options)
        return id === undefined ? model : { ...model, config: { ...model.config, id, name: id } }
      },
    }
  }

  async #answer(reply: WireReply, wire: Wire, base: string, response: ServerResponse): Promise<void> {
    if ('silent' in reply) return
    if ('gone' in reply) return void response.destroy()
    if ('body' in reply)
      return void response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(reply.body)
    await play(reply, protocols[wire], this.#board.line(base), response)
  }
}
