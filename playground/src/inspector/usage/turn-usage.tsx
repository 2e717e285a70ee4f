import type { CostConfig } from '../../../../src/index.ts'
import type { TurnView } from '../../../../src/store.ts'
import { costOf, duration, short } from '../../parts/figures.ts'
import type { Selection } from '../../state/selection.ts'

/** Only the newest turns are listed. The others are in the trace. */
const listed = 100

interface TurnUsageProps {
  turns: readonly TurnView[]
  cost: CostConfig
  selection: Selection | undefined
  onSelect: (selection: Selection) => void
}

/** Tokens per turn, as a table with bars. */
export function TurnUsage({ turns, cost, selection, onSelect }: TurnUsageProps) {
  const newest = turns.slice(-listed)
  const most = Math.max(1, ...newest.map(({ usage }) => usage?.totalTokens ?? 0))
  if (newest.length === 0) return null
  return (
    <table class="figure-table turn-usage">
      <caption>{turns.length > listed ? `Newest ${listed} of ${turns.length} turns` : 'Turns'}</caption>
      <thead>
        <tr>
          <th scope="col">Turn</th>
          <th scope="col">Cached, new, output</th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col" class="number">
            Cost
          </th>
          <th scope="col" class="number">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {newest.map(({ loopId, turnIndex, usage, startedAt, endedAt }) => (
          <tr key={`${loopId} ${turnIndex}`} data-selected={selection?.loopId === loopId && selection.turnIndex === turnIndex}>
            <th scope="row">
              <button type="button" class="link" onClick={() => onSelect({ loopId, turnIndex })}>
                {turnIndex}
              </button>
            </th>
            <td>
              {usage !== undefined && (
                <span class="stack" aria-hidden="true">
                  <span data-part="cached" style={{ width: `${(100 * usage.cacheRead) / most}%` }} />
                  <span data-part="new" style={{ width: `${(100 * (usage.input + usage.cacheWrite)) / most}%` }} />
                  <span data-part="output" style={{ width: `${(100 * usage.output) / most}%` }} />
                </span>
              )}
            </td>
            <td class="number">{usage === undefined ? '…' : short(usage.totalTokens)}</td>
            <td class="number">{usage === undefined ? '' : costOf(usage, cost)}</td>
            <td class="number">{endedAt === undefined ? '…' : duration(endedAt - startedAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
