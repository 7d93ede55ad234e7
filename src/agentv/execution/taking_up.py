"""A run's folder, with what is asked written down in it."""

from datetime import datetime

from agentv.assembly.assembly import Assembly
from agentv.assembly.earlier import take_up_earlier
from agentv.execution.manifest import manifest_of
from agentv.execution.places import RESULTS_ROOT, below
from agentv.execution.request import RunRequest
from agentv.model.run import RunManifest
from agentv.storage.chosen import write_chosen
from agentv.storage.manifest import write_manifest
from agentv.storage.run_folder import RunFolder, new_run_folder


def open_folder(request: RunRequest, now: datetime) -> RunFolder:
    """The folder of the run: a new one, or that of the run that goes on.

    Raises:
        SetupError: It cannot be made, or something else is there.
    """
    if request.resume is not None:
        return request.resume.folder
    # Relative where it was given so: what is printed can be typed again.
    if request.out is None:
        return new_run_folder(below(request.cwd, RESULTS_ROOT), now)
    return RunFolder.create(below(request.cwd, request.out))


def take_up(
    request: RunRequest, assembly: Assembly, folder: RunFolder, now: datetime
) -> RunManifest:
    """Write down what is asked; of a run that was there before, find out first what is left."""
    manifest = manifest_of(request, assembly, folder.path.name, now)
    if (earlier := request.resume or request.origin) is not None:
        manifest = take_up_earlier(earlier, assembly, folder, manifest, request.registry)
    chosen = assembly.scope.chosen
    if chosen is not None and (request.resume is None or chosen.has_moved):
        write_chosen(folder.chosen_path, assembly.keys)
    # Last of all: a folder with a manifest holds a run that can go on.
    write_manifest(folder.manifest_path, manifest)
    return manifest
