// What the keys do.
import { useEffect, useRef } from 'preact/hooks';
import { helpKeys, helpOpen } from './keys';

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open && !dialog.current!.open) dialog.current!.showModal();
    if (!open && dialog.current!.open) dialog.current!.close();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (helpOpen.value = false)}>
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
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}
