/** The part of a scenario that the bar needs. */
interface Offered {
  name: string
  prompt: string
  shows: string
}

interface ScenarioBarProps<Kind extends Offered> {
  scenarios: readonly Kind[]
  isDisabled: boolean
  onPick: (scenario: Kind) => void
}

/** One button per scenario. It sends a prompt that the scripted model can respond to. */
export function ScenarioBar<Kind extends Offered>({ scenarios, isDisabled, onPick }: ScenarioBarProps<Kind>) {
  return (
    <fieldset class="scenarios" disabled={isDisabled}>
      <legend class="visually-hidden">Scripted scenarios</legend>
      {scenarios.map((scenario) => (
        <button
          type="button"
          class="chip"
          key={scenario.name}
          title={`${scenario.shows}: “${scenario.prompt}”`}
          onClick={() => onPick(scenario)}
        >
          {scenario.name}
        </button>
      ))}
    </fieldset>
  )
}
