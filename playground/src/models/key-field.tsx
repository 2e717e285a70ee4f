import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { areKeysKept, forgetKeys, keepKeys, keyOwners, setKey } from './key-vault.ts'

/** Lets the user enter or remove a secret, and shows where it is stored. The secret is never shown again. */
export function KeyField({ owner, label, hint }: { owner: string; label: string; hint?: string }) {
  const text = useSignal('')
  const isKnown = keyOwners.value.includes(owner)
  // A reload does not blur the field, so the input is saved before it. It survives the reload if the user keeps keys.
  useEffect(() => {
    const onEnd = () => text.value !== '' && setKey(owner, text.value)
    addEventListener('pagehide', onEnd)
    return () => removeEventListener('pagehide', onEnd)
  }, [owner])
  const take = () => {
    setKey(owner, text.value)
    text.value = ''
  }
  return (
    <div class="key-field" data-testid="key-field">
      <label class="field">
        <span class="field-label">{label}</span>
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder={isKnown ? 'A key is set. Enter another to replace it.' : 'Not entered'}
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          onBlur={() => text.value !== '' && take()}
        />
        {hint !== undefined && <span class="field-hint">{hint}</span>}
      </label>
      <div class="key-row">
        <label class="check">
          <input type="checkbox" checked={areKeysKept.value} onChange={({ currentTarget }) => keepKeys(currentTarget.checked)} />
          <span>Keep until this tab is closed (sessionStorage). Otherwise it is in memory only.</span>
        </label>
        <button type="button" class="small danger" disabled={keyOwners.value.length === 0} onClick={forgetKeys}>
          <Icon name="trash" />
          Forget keys
        </button>
      </div>
      <p class="risk" role="note">
        A key in a page can be read by every script and extension that runs in it. Use one with a low limit, and forget it afterwards. It is
        never part of conversations, exports, links or the code that this page shows.
      </p>
    </div>
  )
}
