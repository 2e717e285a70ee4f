import type { Scenario } from '../demo/scenario.ts'
import { Icon } from '../parts/icon.tsx'

/** A short demo: thinking, two concurrent tools, and a response based on their results. */
const firstLook = 'Thinking and tools'

interface WelcomeProps {
  /** Empty for a real model. */
  scenarios: readonly Scenario[]
  isDisabled: boolean
  onPick: (scenario: Scenario) => void
}

/** The content of an empty page: a description and first steps. */
export function Welcome({ scenarios, isDisabled, onPick }: WelcomeProps) {
  const first = scenarios.find(({ name }) => name === firstLook)
  return (
    <div class="welcome">
      <h2>See the loop think</h2>
      {first === undefined ? (
        <p>Write something. The inspector shows what was sent, and why.</p>
      ) : (
        <>
          <p>
            An agent runs in this tab. Only its model is <strong>scripted</strong>: no key, no network. The loop, tools, approvals, retries
            and sessions are the SDK.
          </p>
          <button type="button" class="primary watch" disabled={isDisabled} onClick={() => onPick(first)}>
            <Icon name="play" />
            Watch it work
          </button>
          <fieldset class="scenario-cards" disabled={isDisabled}>
            <legend class="visually-hidden">Scripted scenarios</legend>
            {scenarios.map((scenario) => (
              <button
                type="button"
                class="scenario-card"
                key={scenario.name}
                title={`${scenario.shows}: “${scenario.prompt}”`}
                onClick={() => onPick(scenario)}
              >
                <span class="scenario-name">{scenario.name}</span>
                {/* Already in the description. */}
                <span class="scenario-shows" aria-hidden="true">
                  {scenario.shows}
                </span>
              </button>
            ))}
          </fieldset>
        </>
      )}
    </div>
  )
}
