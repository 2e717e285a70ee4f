import { type LoopRecord, parallelSiblings, type Session } from '../../../src/session.ts'
import { escapeControls, initialState, reduce } from '../../../src/store.ts'
import { Icon } from '../parts/icon.tsx'
import { marked, type RaceMarks } from '../state/race/race-marks.ts'
import { RaceColumns, type RaceEntry } from './race-column.tsx'
import { verdictText } from './verdict.ts'

/** The branches next to the selected one. */
export function RecordedRace({ record, loop }: { record: Session; loop: LoopRecord }) {
  const siblings = parallelSiblings(record, loop.loopId)
  const verdict = loop.parallelGroup?.reason
  return (
    <details class="race" data-testid="race" data-status="done" open={verdict !== undefined}>
      <summary>
        <Icon name="chevron" class="twist" />
        {siblings.length} answers were tried at once; the conversation goes on with the one that was chosen.
      </summary>
      <RaceColumns entries={siblings.map(entryOf)} chosen={loop.loopId} />
      {verdict !== undefined && (
        <p class="verdict">
          Judge:{' '}
          {escapeControls(
            verdictText(
              verdict,
              siblings.map(({ config }) => config?.name),
            ),
          )}
        </p>
      )}
    </details>
  )
}

function entryOf({ loopId, events }: LoopRecord): RaceEntry {
  let run = initialState()
  let marks: RaceMarks | undefined
  for (const { event } of events) {
    run = reduce(run, event)
    marks = marked(marks, event)
  }
  return { loopId, run, marks }
}
