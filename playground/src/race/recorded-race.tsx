import { type LoopRecord, type Session, textOf } from '../../../src/index.ts'
import { parallelSiblings } from '../../../src/session/index.ts'
import { LazyMarkdown } from '../markdown/lazy-markdown.tsx'
import { duration, short } from '../parts/figures.ts'

/** The branches that were tried beside the one that the conversation went on with. */
export function RecordedRace({ record, loop }: { record: Session; loop: LoopRecord }) {
  const siblings = parallelSiblings(record, loop.loopId)
  return (
    <details class="race" data-testid="race" data-status="done">
      <summary>{siblings.length} answers were tried at once; the conversation goes on with the one that was chosen.</summary>
      <div class="race-columns">
        {siblings.map((sibling) => (
          <div key={sibling.loopId} class="race-column" data-testid="race-column" data-chosen={sibling.parallelGroup?.isSelected ?? false}>
            <p class="race-head">
              <span>{sibling.config?.name ?? 'branch'}</span> {sibling.parallelGroup?.isSelected && <span class="badge">chosen</span>}
            </p>
            <LazyMarkdown text={answerOf(sibling)} isGrowing={false} />
            <p class="race-facts">
              {[
                ...(sibling.endedAt === undefined ? [] : [duration(sibling.endedAt - sibling.startedAt)]),
                `${short(sibling.usage.output)} tok`,
              ].join(' · ')}
            </p>
          </div>
        ))}
      </div>
    </details>
  )
}

function answerOf({ messages, status }: LoopRecord): string {
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer?.role === 'assistant' ? textOf(answer.content) : `(${status})`
}
