import { IndexObject, type ObjectNamespace, type ObjectState, SessionObject } from '../../adapters/cloudflare/index.ts'

export { IndexObject }

/** A session whose lines a test may exchange, and which it may end without warning. */
export class TestedSession extends SessionObject {
  readonly #end: (reason: string) => void

  constructor(state: ObjectState & { abort(reason: string): void }) {
    super(state)
    this.#end = (reason) => state.abort(reason)
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/lines') return Response.json(this.log.read(0) ?? [])
    if (pathname === '/rows') return Response.json(this.#rows())
    if (pathname === '/end') this.#end('a test ends the object')
    if (pathname === '/damage') return this.#replace(await request.json())
    return super.fetch(request)
  }

  /** Bytes of the largest row, and how many there are. */
  #rows(): unknown {
    return this.state.storage.sql.exec('SELECT max(length(CAST(text AS BLOB))) AS largest, count(*) AS count FROM records').toArray()[0]
  }

  #replace(lines: string[]): Response {
    const { sql } = this.state.storage
    const [latest] = sql.exec<{ epoch: number }>('SELECT epoch FROM claim')
    sql.exec('DELETE FROM records')
    for (const [index, line] of lines.entries()) {
      const [, epoch = latest?.epoch ?? 1] = /"epoch":(\d+)/.exec(line) ?? []
      sql.exec('INSERT INTO records (epoch, seq, chunk, text) VALUES (?, ?, 0, ?)', Number(epoch), index + 1, line)
    }
    return new Response()
  }
}

/** Puts what `how` makes of them in place of the lines of a session. */
export async function damageObject(namespace: ObjectNamespace, name: string, how: (lines: string[]) => string[]): Promise<void> {
  const stub = namespace.getByName(name)
  const lines: string[] = await (await stub.fetch(new Request('https://object/lines'))).json()
  await stub.fetch(new Request('https://object/damage', { method: 'POST', body: JSON.stringify(how(lines)) }))
}
