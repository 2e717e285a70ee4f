import type { Agent, SessionStore } from '../../../../src/index.ts'
import { contextOf, type EvaluationStrategy, type LoopConfig, parallelLoop } from '../../../../src/loop.ts'
import type { RunRace } from './race.ts'
import { withPrices } from './race-marks.ts'

/** Configurations that respond, and the judge. */
export interface Contest {
  configs: readonly LoopConfig[]
  strategy: EvaluationStrategy
}

/** Runs branches of the agent's conversation, recorded in its session. */
export function localRace(agent: Agent, store: SessionStore, contest: () => Promise<Contest>): RunRace {
  return async (prompt, emit, signal) => {
    const { configs, strategy } = await contest()
    // A session has only one writer. While branches run, they hold the session.
    await agent.close()
    const context = contextOf(agent.checkpoint(), [])
    const known = agent.messages.length === 0 ? undefined : await store.tail(agent.sessionId)
    const { sessionId, messages, lastLoopId: loopId } = agent
    const journal = store.journal(
      known === undefined ? {} : { resume: { sessionId, cursor: known.cursor, loopId, messages, state: context.state, recovered: [] } },
    )
    try {
      const recorded = configs.map((config) => ({ ...config, journal }))
      const metadata = withPrices(configs.map(({ model }) => model.config))
      const { selectedLoopId } = await parallelLoop({ prompt, context, configs: recorded, strategy, emit, signal, metadata })
      return selectedLoopId
    } finally {
      await journal.close()
    }
  }
}
