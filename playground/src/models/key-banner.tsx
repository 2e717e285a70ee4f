import { forgetKeys, keyOwners } from './key-vault.ts'

/** Shows that this page stores secrets. */
export function KeyBanner() {
  if (keyOwners.value.length === 0) return null
  return (
    <p class="key-banner" role="note" data-testid="key-banner">
      <span>This page holds a key of yours: every script and extension that runs in it can read it.</span>
      <button type="button" class="small" onClick={forgetKeys}>
        Forget
      </button>
    </p>
  )
}
