// What the keys do.
import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { helpKeys, helpOpen } from './keys';

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  // At once, and what closes it says so before its `close` event comes: a key pressed in between opens it again.
  useSignalEffect(() => {
    const open = helpOpen.value;
    if (open && !dialog.current!.open) dialog.current!.showModal();
    if (!open && dialog.current!.open) dialog.current!.close();
  });
  const close = () => (helpOpen.value = false);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onCancel={close} onClose={() => (helpOpen.value = dialog.current!.open)}>
      <h2 id="help-title">Keys</h2>
      <dl class="help-keys">
        {helpKeys.map(([keys, what]) => (
          <div key={keys}>
            <dt><kbd>{keys}</kbd></dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="about">
        A weight's colour goes by its square root, so that small weights can be told from none. Masked cells are hatched. Where a
        map has more cells than pixels, a pixel shows the largest of its cells.
      </p>
      <form method="dialog" onSubmit={close}><button type="submit">Close</button></form>
    </dialog>
  );
}
