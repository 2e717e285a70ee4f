import { Agent, memorySessionStore, resumeAgent } from 'phi-core'
import { listRustSessionIds, loadRustSession, saveRustSession } from 'phi-core/node'
import { scripted } from 'phi-core/testing'

/** Saves a session as a file of the Rust crate in `directory`, and loads it again. Models are scripted. */
export async function throughLedger(directory: string, write: (line: string) => void): Promise<void> {
  const store = memorySessionStore()
  const agent = new Agent({ model: scripted([{ text: 'Honey.' }]), session: store, sessionId: 's1' })
  await agent.prompt('What do bees make?').result
  await saveRustSession(await store.load('s1'), directory)

  write((await listRustSessionIds(directory)).join(', '))
  const session = await loadRustSession('s1', directory)
  write(`${session.loops.length} loop, ${session.loops[0]?.status}, ${session.loops[0]?.messages.length} messages`)

  // Any store accepts the session, and any agent can resume it.
  const other = memorySessionStore()
  await other.save(session)
  const resumed = await resumeAgent(other, 's1', { model: scripted([{ text: 'From nectar.' }]) })
  write(await resumed.prompt('Of what?').text())
}
