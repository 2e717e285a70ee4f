import { escapeControls } from '../../../src/index.ts'
import { allMessages, type RunState } from '../../../src/store/index.ts'
import { LazyMarkdown } from '../markdown/lazy-markdown.tsx'
import { duration, short } from '../parts/figures.ts'
import type { Race } from '../state/race.ts'

/** Several answers to one prompt beside each other, and which of them the judge chose. */
export function RaceCard({ race }: { race: Race }) {
  const { loopIds, runs, selectedLoopId, verdict, prompt } = race
  return (
    <>
      <article class="message user" data-testid="message-user">
        <h3 class="visually-hidden">You</h3>
        <p class="text plain">{prompt}</p>
      </article>
      <section class="race" aria-label="Branches" data-testid="race" data-status={race.isRunning ? 'running' : 'done'}>
        <div class="race-columns">
          {loopIds.map((loopId, at) => (
            <Column key={loopId} run={runs[loopId]} number={at + 1} isChosen={loopId === selectedLoopId} />
          ))}
        </div>
        {verdict !== undefined && <p class="verdict">Judge: {escapeControls(verdict)}</p>}
      </section>
    </>
  )
}

function Column({ run, number, isChosen }: { run: RunState | undefined; number: number; isChosen: boolean }) {
  const answer = run && allMessages(run).findLast(({ role }) => role === 'assistant')
  const name = answer?.message?.role === 'assistant' ? answer.message.model : `branch ${number}`
  return (
    <div class="race-column" data-testid="race-column" data-chosen={isChosen}>
      <p class="race-head">
        <span>{name}</span> {isChosen && <span class="badge">chosen</span>}
      </p>
      {answer?.blocks.map((block, at) =>
        block.type === 'text' ? <LazyMarkdown key={at} text={block.text} isGrowing={answer.status === 'streaming'} /> : null,
      )}
      {run !== undefined && answer?.endedAt !== undefined && (
        <p class="race-facts">{[duration(answer.endedAt - answer.startedAt), `${short(run.usage.output)} tok`].join(' · ')}</p>
      )}
    </div>
  )
}
