import { escapeControls } from '../../../src/store.ts'
import type { Race } from '../state/race/race.ts'
import { RaceColumns } from './race-column.tsx'
import { verdictText } from './verdict.ts'

/** Responses to one prompt side by side, with the judge's selection. */
export function RaceCard({ race }: { race: Race }) {
  const { loopIds, runs, marks, selectedLoopId, verdict, prompt } = race
  return (
    <>
      <article class="message user" data-testid="message-user">
        <h3 class="visually-hidden">You</h3>
        <p class="text plain">{prompt}</p>
      </article>
      <section class="race" aria-label="Branches" data-testid="race" data-status={race.isRunning ? 'running' : 'done'}>
        <RaceColumns entries={loopIds.map((loopId) => ({ loopId, run: runs[loopId], marks: marks[loopId] }))} chosen={selectedLoopId} />
        {verdict !== undefined && (
          <p class="verdict">
            Judge:{' '}
            {escapeControls(
              verdictText(
                verdict,
                loopIds.map((loopId) => marks[loopId]?.name),
              ),
            )}
          </p>
        )}
      </section>
    </>
  )
}
