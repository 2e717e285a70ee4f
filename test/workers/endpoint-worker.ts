/** The endpoint of `agentEndpointSuite` on Cloudflare: a Worker in front, a Durable Object per session behind. */
import { createWorker, LiveSessionObject, type ObjectNamespace, objectLiveSessions } from '../../adapters/cloudflare/index.ts'
import { createOpenAiApp } from '../../adapters/http/index.ts'
import type { EndNotice, WaitingNotice } from '../../adapters/http/notices/session-notices.ts'
import { endpointAgent } from '../../testing/index.ts'
import { userOf } from '../support/endpoint-users.ts'
import { NoticeBoard } from '../support/notice-board.ts'

export { IndexObject } from '../../adapters/cloudflare/index.ts'

interface Bindings {
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

export class Conversation extends LiveSessionObject<Bindings> {
  protected override readonly imports = true
  protected override readonly clientSettings = ['thinking'] as const
  protected override readonly keptEvents = { includeStreamingEvents: true }
  /** workerd notices that a client left when it writes to it. */
  protected override readonly pingMs = 300

  readonly #board = new NoticeBoard()

  protected agentOptions({ sessionId }: { sessionId: string }) {
    return endpointAgent(sessionId)
  }

  protected override onWaiting(notice: WaitingNotice) {
    this.#board.tell(notice)
  }

  protected override onEnd(notice: EndNotice) {
    this.#board.tell(notice)
  }

  /** What was told, for the tests. */
  override async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const [type, sessionId = ''] = searchParams.get('told')?.split(' ') ?? []
    if (type !== 'waiting' && type !== 'end') return super.fetch(request)
    return Response.json(await this.#board.told(sessionId, type))
  }

  protected override index(): ObjectNamespace {
    return this.env.INDEX
  }
}

const sessions = ({ SESSIONS, INDEX }: Bindings) => objectLiveSessions({ sessions: SESSIONS, index: INDEX })

const openAi = createOpenAiApp<{ Bindings: Bindings }>({
  agents: { helper: { sessions: (c) => sessions(c.env) } },
  authorize: userOf,
})

// A Worker is a default export.
export default createWorker<Bindings>({ imports: true, sessions, authorize: (_env, request) => userOf(request) }).route('/', openAi)
