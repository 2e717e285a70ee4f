import { Agent, memorySessionStore, resumeAgent } from 'phi-core'
import { listSessionIds, loadSession, saveSession } from 'phi-core/adapters/node/rust'
import { scripted } from 'phi-core/providers/scripted'

/** A session goes into a file of the Rust crate below `directory`, and comes back. Models are scripted. */
export async function throughLedger(directory: string, write: (line: string) => void): Promise<void> {
  const store = memorySessionStore()
  const agent = new Agent({ model: scripted([{ text: 'Honey.' }]), session: store, sessionId: 's1' })
  await agent.prompt('What do bees make?').result
  await saveSession(await store.load('s1'), directory)

  write((await listSessionIds(directory)).join(', '))
  const session = await loadSession('s1', directory)
  write(`${session.loops.length} loop, ${session.loops[0]?.status}, ${session.loops[0]?.messages.length} messages`)

  // Any store takes it, and any agent goes on with it.
  const other = memorySessionStore()
  await other.save(session)
  const resumed = await resumeAgent(other, 's1', { model: scripted([{ text: 'From nectar.' }]) })
  write(await resumed.prompt('Of what?').text())
}
