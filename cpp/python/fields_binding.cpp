// Contexts as they come from JSON: the fields of an object become binary variables, where nothing about them is odd.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "python/binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bandit_forest {

namespace {

constexpr std::size_t odd = SIZE_MAX;  // no place: to be looked at in Python

// Which variable a value sets, by kind of field; a place behind the last variable sets none.
struct Flag {
    std::size_t if_false;
    std::size_t if_true;

    std::size_t place(PyObject* value) const {
        return value == Py_True ? if_true : value == Py_False ? if_false : odd;
    }
};

struct Number {
    std::vector<double> edges;        // where its bins meet
    std::vector<std::size_t> places;  // by bin

    std::size_t place(PyObject* value) const {
        double number = NAN;
        if (PyFloat_CheckExact(value)) {
            number = PyFloat_AS_DOUBLE(value);
        } else if (PyLong_CheckExact(value)) {
            constexpr long long most = 1LL << 53;  // beyond, a whole number may not be a double
            int overflow = 0;
            const long long whole = PyLong_AsLongLongAndOverflow(value, &overflow);
            number = overflow == 0 && whole >= -most && whole <= most ? static_cast<double>(whole) : NAN;
        }
        if (!std::isfinite(number)) {
            return odd;
        }
        return places[static_cast<std::size_t>(std::ranges::upper_bound(edges, number) - edges.begin())];
    }
};

struct Category {
    nb::dict places;  // by value

    std::size_t place(PyObject* value) const {
        if (!PyUnicode_CheckExact(value) && !PyLong_CheckExact(value)) {
            return odd;
        }
        PyObject* const found = PyDict_GetItemWithError(places.ptr(), value);
        return found == nullptr ? odd : PyLong_AsSize_t(found);
    }
};

struct Field {
    nb::object name;
    std::optional<std::size_t> missing;  // where a missing value is allowed: its place
    std::variant<Flag, Number, Category> kind;

    std::size_t place(PyObject* value) const {
        if (value == nullptr || value == Py_None) {
            return missing.value_or(odd);
        }
        return std::visit([value](const auto& of_kind) { return of_kind.place(value); }, kind);
    }
};

class FieldReader {
   public:
    explicit FieldReader(std::size_t n_variables) : n_variables_(n_variables) {}

    void add_flag(nb::str name, std::optional<std::size_t> missing, std::size_t if_false, std::size_t if_true) {
        fields_.push_back({std::move(name), missing, Flag{if_false, if_true}});
    }
    void add_number(nb::str name, std::optional<std::size_t> missing, std::vector<double> edges,
                    std::vector<std::size_t> places) {
        fields_.push_back({std::move(name), missing, Number{std::move(edges), std::move(places)}});
    }
    void add_category(nb::str name, std::optional<std::size_t> missing,
                      nb::typed<nb::dict, nb::object, nb::int_> places) {
        fields_.push_back({std::move(name), missing, Category{std::move(places)}});
    }

    // The variables of an object, a byte each. None when it has other fields, or an odd value.
    std::optional<nb::bytes> read(nb::handle context) {
        if (!PyDict_CheckExact(context.ptr())) {
            return std::nullopt;
        }
        auto bits = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(n_variables_)));
        if (!bits.is_valid()) {
            throw nb::python_error();
        }
        char* const values = PyBytes_AS_STRING(bits.ptr());
        std::fill_n(values, n_variables_, '\0');
        Py_ssize_t position = 0;
        Py_ssize_t n_found = 0;
        for (Field& field : fields_) {
            PyObject* const value = find(context.ptr(), field, position);
            const std::size_t place = field.place(value);
            n_found += value == nullptr ? 0 : 1;
            if (PyErr_Occurred() != nullptr) {  // texts of another class may refuse to be compared
                throw nb::python_error();
            }
            if (place == odd) {
                return std::nullopt;
            }
            if (place < n_variables_) {  // otherwise an outcome without a variable
                values[place] = 1;
            }
        }
        return n_found == PyDict_GET_SIZE(context.ptr()) ? std::optional(bits) : std::nullopt;
    }

   private:
    // The value of a field, which is the next one in an object whose fields come in order; null when it is not there.
    static PyObject* find(PyObject* context, Field& field, Py_ssize_t& position) {
        PyObject* name = nullptr;
        PyObject* value = nullptr;
        if (PyDict_Next(context, &position, &name, &value) != 0) {
            if (name == field.name.ptr()) {
                return value;
            }
            if (PyUnicode_CheckExact(name) && PyUnicode_Compare(name, field.name.ptr()) == 0) {
                field.name = nb::borrow(name);  // a parser gives the same text again, which is known without being read
                return value;
            }
        }
        return PyDict_GetItemWithError(context, field.name.ptr());
    }

    std::size_t n_variables_;
    std::vector<Field> fields_;  // in the order of the project
};

}  // namespace

void bind_fields(nb::module_& m) {
    nb::class_<FieldReader>(m, "FieldReader")
        .def(nb::init<std::size_t>(), "n_variables"_a)
        .def("add_flag", &FieldReader::add_flag, "name"_a, "missing"_a.none(), "if_false"_a, "if_true"_a)
        .def("add_number", &FieldReader::add_number, "name"_a, "missing"_a.none(), "edges"_a, "places"_a)
        .def("add_category", &FieldReader::add_category, "name"_a, "missing"_a.none(), "places"_a)
        .def("read", &FieldReader::read, "context"_a.none());
}

}  // namespace bandit_forest
