import { allMessages, type RunState } from '../../../src/store.ts'
import { LazyMarkdown } from '../markdown/lazy-markdown.tsx'
import { dollars, duration, short } from '../parts/figures.ts'
import type { RaceMarks } from '../state/race/race-marks.ts'
import '../styles/conversation/race.css'

/** One streaming response with its metrics. */
export interface RaceEntry {
  loopId: string
  run: RunState | undefined
  marks: RaceMarks | undefined
}

interface Figure {
  name: string
  /** The metric's value. Less is better. */
  value: (marks: RaceMarks) => number | undefined
  show: (value: number) => string
}

const figures: readonly Figure[] = [
  { name: 'First token', value: ({ startedAt, firstTokenAt }) => firstTokenAt && firstTokenAt - startedAt, show: duration },
  { name: 'Total', value: ({ startedAt, endedAt }) => endedAt && endedAt - startedAt, show: duration },
  { name: 'Tokens', value: ({ outputTokens, endedAt }) => endedAt && outputTokens, show: short },
  { name: 'Tokens/s', value: (marks) => negative(pace(marks)), show: (value) => short(-value) },
  { name: 'Cost', value: ({ cost }) => cost, show: dollars },
]

/** Responses side by side. The best value for each metric is marked once all responses have ended. */
export function RaceColumns({ entries, chosen }: { entries: readonly RaceEntry[]; chosen: string | undefined }) {
  const all = entries.flatMap(({ marks }) => (marks?.endedAt === undefined ? [] : [marks]))
  const isOver = all.length === entries.length && entries.length > 1
  const best = figures.map(({ value }) => (isOver ? Math.min(...all.map((marks) => value(marks) ?? Number.POSITIVE_INFINITY)) : undefined))
  return (
    <div class="race-columns">
      {entries.map(({ loopId, run, marks }, at) => (
        <div key={loopId} class="race-column" data-testid="race-column" data-chosen={loopId === chosen}>
          <p class="race-head">
            <span class="race-name">{marks?.name ?? `branch ${at + 1}`}</span>
            {marks !== undefined && marks.thinking !== 'off' && <span class="soft">thinking: {marks.thinking}</span>}
            {loopId === chosen && <span class="badge">chosen</span>}
          </p>
          <Answer run={run} />
          {marks !== undefined && (
            <dl class="race-facts">
              {figures.map(({ name, value, show }, figure) => {
                const of = value(marks)
                return (
                  of !== undefined && (
                    <div key={name} data-best={of === best[figure]}>
                      <dt>{name}</dt>
                      <dd>
                        {show(of)}
                        {of === best[figure] && <span class="visually-hidden"> (best)</span>}
                      </dd>
                    </div>
                  )
                )
              })}
            </dl>
          )}
        </div>
      ))}
    </div>
  )
}

function Answer({ run }: { run: RunState | undefined }) {
  const answer = run && allMessages(run).findLast(({ role }) => role === 'assistant')
  if (run?.failure !== undefined) return <p class="message-error">{run.failure.message}</p>
  return (
    <div class="race-answer">
      {answer?.blocks.map((block, at) =>
        block.type === 'text' ? <LazyMarkdown key={at} text={block.text} isGrowing={answer.status === 'streaming'} /> : null,
      )}
    </div>
  )
}

function pace({ firstTokenAt, endedAt, outputTokens }: RaceMarks): number | undefined {
  if (firstTokenAt === undefined || endedAt === undefined || endedAt - firstTokenAt < 50) return undefined
  return outputTokens / ((endedAt - firstTokenAt) / 1000)
}

function negative(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value
}
