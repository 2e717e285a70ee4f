import type { Model } from 'phi-core'
import { createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { fileSchedules, fileSessionStore } from 'phi-core/node'

/** Creates a server with a daily prompt that survives restarts. */
export async function startServer(directory: string, model: Model) {
  const sessions = memoryLiveSessions({
    store: fileSessionStore(directory),
    schedules: fileSchedules(`${directory}/schedules.json`),
    agent: () => ({ model }),
  })
  await sessions.recover()
  const report = sessions.schedulesOf({ sessionId: 'report' })
  if ((await report.list()).length === 0) await report.every(86_400_000, 'Sum up what happened since yesterday.', { from: Date.now() })
  return { fetch: createAgentApp({ sessions, authorize: () => true }).fetch, end: () => sessions.drain({ deadlineMs: 20_000 }) }
}
