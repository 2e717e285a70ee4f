import { IndexObject, type ObjectNamespace, type ObjectState, SessionObject } from '../../adapters/cloudflare/index.ts'

/** An index that says how many rows its statements have read. */
export class TestedIndex extends IndexObject {
  readonly #read: () => number

  constructor(state: ObjectState) {
    let cursors: { rowsRead: number }[] = []
    const exec: typeof state.storage.sql.exec = (query, ...values) => {
      const cursor = state.storage.sql.exec<never>(query, ...values)
      // What the platform's cursor has, and ours does not ask for.
      cursors.push(cursor as unknown as { rowsRead: number })
      return cursor
    }
    super(new Proxy(state, { get: (of, name) => (name === 'storage' ? withSql(of.storage, exec) : Reflect.get(of, name)) }))
    this.#read = () => {
      const read = cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
      cursors = []
      return read
    }
  }

  override async fetch(request: Request): Promise<Response> {
    return new URL(request.url).pathname === '/read' ? Response.json(this.#read()) : super.fetch(request)
  }
}

function withSql(storage: ObjectState['storage'], exec: ObjectState['storage']['sql']['exec']): ObjectState['storage'] {
  return new Proxy(storage, {
    get: (of, name) => {
      const value: unknown = Reflect.get(of, name)
      if (name === 'sql') return { exec }
      return typeof value === 'function' ? value.bind(of) : value
    },
  })
}

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
