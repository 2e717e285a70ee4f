import { scenarios } from '../demo/scenarios.ts'

/** One button per scenario: it sends the prompt the scripted model has an answer for. */
export function ScenarioBar({ isDisabled, onPick }: { isDisabled: boolean; onPick: (prompt: string) => void }) {
  return (
    <fieldset class="scenarios" disabled={isDisabled}>
      <legend class="visually-hidden">Scenarios</legend>
      {scenarios.map((scenario) => (
        <button type="button" key={scenario.name} title={scenario.prompt} onClick={() => onPick(scenario.prompt)}>
          {scenario.name}
        </button>
      ))}
    </fieldset>
  )
}
