import { Welcome } from './conversation/welcome.tsx'
import type { Scenario } from './demo/scenario.ts'
import { scenarios } from './demo/scenarios/index.ts'
import { LoadFailure } from './late/load-failure.tsx'
import { Panes } from './layout/panes.tsx'

interface OpeningProps {
  onPick: (scenario: Scenario) => void
  /** Whether loading has failed. */
  hasFailed: boolean
}

/** Shown on the first visit while the agent is still loading: the scenarios, which can already be selected. */
export function Opening({ onPick, hasFailed }: OpeningProps) {
  return (
    <div class="app" aria-busy={!hasFailed}>
      <header class="top-bar">
        <h1 class="brand">
          <span class="brand-mark" aria-hidden="true">
            φ
          </span>
          phi <span class="brand-sub">playground</span>
        </h1>
      </header>
      <Panes
        sessions={<nav class="sessions" aria-label="Conversations" />}
        conversation={
          <main class="conversation-pane">
            <div class="transcript-frame">
              <section class="transcript" aria-label="Scenarios">
                <div class="lines" data-empty="true">
                  <Welcome scenarios={scenarios} isDisabled={hasFailed} onPick={onPick} />
                </div>
              </section>
            </div>
            {hasFailed && (
              <footer class="dock">
                <LoadFailure what="The agent" />
              </footer>
            )}
          </main>
        }
        inspector={<aside class="inspector" aria-label="Inspector" />}
      />
    </div>
  )
}
