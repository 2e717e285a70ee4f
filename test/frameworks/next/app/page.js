import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'phi-core'
import { fileSessionStore } from 'phi-core/node'
import { scripted } from 'phi-core/testing'
import { Client } from './client.js'

export const dynamic = 'force-dynamic'

export default async function Page() {
  const session = fileSessionStore(await mkdtemp(join(tmpdir(), 'phi-next-')))
  await new Agent({ model: scripted([{ text: 'Hello.' }]), session, sessionId: 's1' }).prompt('Hi.').text()
  const { sessions } = await session.list()
  return (
    <main>
      <p>{`kept: ${sessions.map(({ sessionId }) => sessionId)}`}</p>
      <Client />
    </main>
  )
}
